// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import org.jspecify.annotations.Nullable;

/** Builds a table of one kind in steps, if the keys allow it. */
interface TableBuilder extends Work, AutoCloseable {

    /**
     * Returns the table after the last step. May be called once.
     *
     * @return null if the keys do not allow a table of this kind
     */
    @Nullable CpuJoinTable table();

    @Override
    void close();
}
