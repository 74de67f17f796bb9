// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.core.layout.Chunk;
import java.util.List;

/**
 * Facts of one exponent, in chunks of one radix partition each, in the order in which a packer
 * would fill them.
 *
 * @param zipf exponent of the customers' popularity; 0 is uniform
 * @param partitionRows facts by partition
 * @param heaviest the most frequent customers, the first ahead
 * @param expected what every join of all the facts must give
 */
record SkewedFacts(
        double zipf,
        List<Chunk> chunks,
        long[] partitionRows,
        List<HeavyKey> heaviest,
        JoinAnswer expected) {

    /** A key and how many facts have it. */
    record HeavyKey(long key, int partition, long rows) {}

    long rows() {
        long rows = 0;
        for (long partition : partitionRows) {
            rows += partition;
        }
        return rows;
    }
}
