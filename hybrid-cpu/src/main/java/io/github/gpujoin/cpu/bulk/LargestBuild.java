// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.region.MemoryRefusedException;
import java.util.List;
import java.util.Map;

/**
 * What a table needs to hold the build side of any partition.
 *
 * @param tuples of the build side with the most tuples
 * @param bytes of the build side with the most bytes, which may be of another partition
 */
record LargestBuild(long tuples, long bytes) {

    /**
     * Finds the largest build sides.
     *
     * @param partitions that are joined
     * @throws MemoryRefusedException if a build side has more than {@link
     *     PartitionTable#MAX_TUPLES}
     */
    static LargestBuild of(
            Map<JoinSide, List<PartitionStore>> stores,
            Map<JoinSide, TupleLayout> layouts,
            int partitions) {
        long tuples = 0;
        long bytes = 0;
        for (int p = 0; p < partitions; p++) {
            JoinSide build = PartitionJoin.buildSide(stores, p);
            long count = PartitionJoin.tuples(stores, build, p);
            if (count > PartitionTable.MAX_TUPLES) {
                throw new MemoryRefusedException(
                        "Both inputs have more than 2^30 rows in a partition: rows=%d, partitions=%d."
                                        .formatted(count, partitions)
                                + " Use more partitions.",
                        null);
            }
            tuples = Math.max(tuples, count);
            bytes = Math.max(bytes, count * layouts.get(build).tupleBytes());
        }
        return new LargestBuild(tuples, bytes);
    }
}
