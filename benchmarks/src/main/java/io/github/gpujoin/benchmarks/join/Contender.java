// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

/** One way to join the tuples. Used by one thread. */
public interface Contender extends AutoCloseable {

    /** Name in reports: lower case with hyphens. */
    String name();

    /** Does what is never timed, such as loading tables. Called once, before the first run. */
    default void prepare() throws Exception {}

    /** Joins once and says how long it took. */
    Measurement run() throws Exception;

    @Override
    default void close() throws Exception {}
}
