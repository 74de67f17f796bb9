// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.region.MemoryRefusedException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What a thread needs to join any partition. Each maximum may be of another partition.
 *
 * @param tuples of the build side with the most tuples
 * @param bytes of the build side with the most bytes
 * @param outOfLineBytes to which spilled tuples of a build side refer, the most
 * @param blockBytes of the longest block of a file
 */
record LargestBuild(long tuples, long bytes, long outOfLineBytes, long blockBytes) {

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
        long outOfLineBytes = 0;
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
            long spilled =
                    segments(stores.get(build), p)
                            .mapToLong(SpillFile.Segment::outOfLineBytes)
                            .sum();
            outOfLineBytes = Math.max(outOfLineBytes, spilled);
        }
        return new LargestBuild(tuples, bytes, outOfLineBytes, longestBlock(stores, partitions));
    }

    /** Includes the partition of rows without a match. */
    private static long longestBlock(Map<JoinSide, List<PartitionStore>> stores, int partitions) {
        return IntStream.rangeClosed(0, partitions)
                .boxed()
                .flatMap(p -> stores.values().stream().flatMap(lanes -> segments(lanes, p)))
                .mapToLong(segment -> segment.file().longestBlockBytes())
                .max()
                .orElse(0);
    }

    private static Stream<SpillFile.Segment> segments(List<PartitionStore> stores, int partition) {
        return stores.stream().flatMap(store -> store.segments(partition).stream());
    }
}
