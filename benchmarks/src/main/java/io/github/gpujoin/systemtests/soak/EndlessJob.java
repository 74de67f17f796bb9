// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.soak;

/** A join on an embedded cluster that goes on until it is closed. */
public interface EndlessJob extends AutoCloseable {

    /** Result rows that sinks have taken. */
    long resultRows();

    /**
     * Fails if the job has ended.
     *
     * @throws Exception what the job failed with
     */
    void requireRunning() throws Exception;
}
