// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.jmh;

import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;

/**
 * What one invocation of every microbenchmark works through: the same number of tuples, so that
 * invocations a second compare; more bytes than caches hold.
 */
final class WorkingSet {

    static final int BUILD_ROWS = 1_000_000;
    static final int PROBE_ROWS = 256 * Tuples.CHUNK_ROWS;
    static final int BYTES = PROBE_ROWS * TupleSchemas.TUPLE_BYTES;
    static final int PARTITIONS = 128;

    private static final long SEED = 42;

    private WorkingSet() {}

    static Tuples tuples() {
        return Tuples.generate(BUILD_ROWS, PROBE_ROWS, KeyDomain.DENSE, SEED);
    }
}
