// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.Region;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Which lanes join which partitions, so that their tables fit the memory. The first lane has a
 * table for any partition, and joins the large partitions one after another. The tables of other
 * lanes have room for ordinary partitions only, and some lanes may have none. Immutable.
 */
final class JoinPlan {

    /** By partition. The last one has rows without a match, and needs no table. */
    private final long[] tableBytes;

    /** Tuples of both sides by partition. */
    private final long[] tuples;

    private final int blockBytes;
    private final long largestBytes;

    /** Lanes that join, and the bytes of the table of each but the first. */
    private int lanes = 1;

    private long ordinaryBytes;

    /** Tuples that a lane joins until the join is complete, if lanes never wait. */
    private long longestTuples;

    /**
     * Chooses the number of lanes and the size of their tables with which the join is complete
     * first.
     *
     * @param partitions that are joined
     * @param lanes at least 1
     * @param availableBytes of memory
     * @throws MemoryRefusedException if the table of one partition does not fit, or has more than
     *     {@link PartitionTable#MAX_TUPLES}
     */
    JoinPlan(
            BulkJoinKind kind,
            Map<JoinSide, List<PartitionStore>> stores,
            Map<JoinSide, TupleLayout> layouts,
            int partitions,
            int lanes,
            long availableBytes) {
        this.tableBytes = new long[partitions + 1];
        this.tuples = new long[partitions + 1];
        for (int p = 0; p <= partitions; p++) {
            tableBytes[p] = p < partitions ? tableBytes(kind, stores, layouts, p) : 0;
            tuples[p] =
                    PartitionJoin.tuples(stores, JoinSide.LEFT, p)
                            + PartitionJoin.tuples(stores, JoinSide.RIGHT, p);
        }
        this.blockBytes = longestBlockBytes(stores);
        this.largestBytes = Arrays.stream(tableBytes).max().orElse(0);
        long firstLaneBytes = laneBytes(largestBytes);
        if (firstLaneBytes > availableBytes) {
            throw new MemoryRefusedException(
                    "The smaller side of a partition does not fit the memory: tableBytes=%d,"
                                    .formatted(firstLaneBytes)
                            + " availableBytes="
                            + availableBytes
                            + ". Allow more memory, or use more partitions if no key is frequent.",
                    null);
        }
        this.longestTuples = Arrays.stream(tuples).sum();
        for (int count = 2; count <= lanes; count++) {
            long room = (availableBytes - firstLaneBytes) / (count - 1);
            long bytes = Math.min(largestBytes, room - (firstLaneBytes - largestBytes));
            if (bytes >= 0 && longestTuples(count, bytes) <= longestTuples) {
                this.lanes = count;
                this.ordinaryBytes = bytes;
                this.longestTuples = longestTuples(count, bytes);
            }
        }
    }

    private static long tableBytes(
            BulkJoinKind kind,
            Map<JoinSide, List<PartitionStore>> stores,
            Map<JoinSide, TupleLayout> layouts,
            int partition) {
        JoinSide build = PartitionJoin.buildSide(stores, partition);
        long count = PartitionJoin.tuples(stores, build, partition);
        if (count > PartitionTable.MAX_TUPLES) {
            throw new MemoryRefusedException(
                    "Both inputs have more than 2^30 rows in a partition: rows=%d. Use more partitions."
                            .formatted(count),
                    null);
        }
        long outOfLineBytes =
                stores.get(build).stream()
                        .flatMap(store -> store.segments(partition).stream())
                        .mapToLong(SpillFile.Segment::outOfLineBytes)
                        .sum();
        return outOfLineBytes
                + PartitionTable.lengthBytes(kind, build, count, layouts.get(build).tupleBytes());
    }

    private static int longestBlockBytes(Map<JoinSide, List<PartitionStore>> stores) {
        return stores.values().stream()
                .flatMap(List::stream)
                .mapToInt(PartitionStore::longestBlockBytes)
                .max()
                .orElse(0);
    }

    private long laneBytes(long table) {
        return Region.allocatedBytes(table) + Region.allocatedBytes(blockBytes);
    }

    /** The first lane joins the large partitions, and all lanes share the rest. */
    private long longestTuples(int laneCount, long ordinary) {
        long all = 0;
        long large = 0;
        for (int p = 0; p < tuples.length; p++) {
            all += tuples[p];
            large += tableBytes[p] > ordinary ? tuples[p] : 0;
        }
        return Math.max(Math.max(large, all / laneCount), Arrays.stream(tuples).max().orElse(0));
    }

    /** Whether more memory would let the join be complete earlier. */
    boolean isLimited(int threads) {
        return longestTuples > longestTuples(threads, largestBytes);
    }

    /** Returns a sentence about the choice, for people. */
    String reason(long spilledBytes) {
        return "The smaller input of each partition builds: partitions=%d, tuples=%d, threads=%d, largestTableBytes=%d, spilledBytes=%d."
                        .formatted(
                                tableBytes.length - 1,
                                Arrays.stream(tuples).sum(),
                                lanes,
                                largestBytes,
                                spilledBytes)
                + (spilledBytes > 0 ? " The inputs or their tables exceed the memory." : "");
    }

    /** Returns the number of lanes that join, which are the first ones. */
    int lanes() {
        return lanes;
    }

    /** Returns the bytes of the table of a lane that joins. */
    long tableBytes(int lane) {
        return lane == 0 ? largestBytes : ordinaryBytes;
    }

    /** Returns the bytes of the memory for blocks of spilled tuples, of each lane that joins. */
    int blockBytes() {
        return blockBytes;
    }

    /** Returns the partitions of the first lane, the largest first. */
    Queue<Integer> largePartitions() {
        return partitions(p -> isLarge(p));
    }

    /**
     * Returns the other partitions, the largest first, so that lanes end at about the same time.
     */
    Queue<Integer> ordinaryPartitions() {
        return partitions(p -> !isLarge(p));
    }

    private boolean isLarge(int partition) {
        return lanes > 1 && tableBytes[partition] > ordinaryBytes;
    }

    private Queue<Integer> partitions(IntPredicate selected) {
        return IntStream.range(0, tuples.length)
                .filter(selected)
                .boxed()
                .sorted(Comparator.comparing(p -> -tuples[p]))
                .collect(Collectors.toCollection(ConcurrentLinkedQueue::new));
    }
}
