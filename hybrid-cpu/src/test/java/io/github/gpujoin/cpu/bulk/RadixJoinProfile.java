// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.region.Allocator;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;

/**
 * Measures both phases of the radix join with one thread: CPU time for each row of either input,
 * the least of four rounds. Each row of the larger input has one match. Arguments: rows of the
 * smaller input, rows of the larger one, partition bits.
 */
public final class RadixJoinProfile {

    private static final ChunkSchema TUPLES =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("payload", ColumnType.INT64));

    private static final int CHUNK_ROWS = 16 << 10;
    private static final int ROUNDS = 4;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private RadixJoinProfile() {}

    public static void main(String[] args) throws Exception {
        int smallRows = Integer.parseInt(args[0]);
        int largeRows = Integer.parseInt(args[1]);
        int partitionBits = Integer.parseInt(args[2]);
        SplittableRandom random = new SplittableRandom(1);
        List<Chunk> small = chunks(smallRows, row -> row);
        List<Chunk> large = chunks(largeRows, row -> random.nextInt(smallRows));
        for (Map.Entry<String, BulkOutput> output : outputs().entrySet()) {
            double[] leastNs = {Double.MAX_VALUE, Double.MAX_VALUE};
            for (int round = 0; round < ROUNDS; round++) {
                long[] phasesNs = join(small, large, output.getValue(), partitionBits);
                for (int phase = 0; phase < 2; phase++) {
                    double ns = (double) phasesNs[phase] / (smallRows + largeRows);
                    leastNs[phase] = Math.min(leastNs[phase], ns);
                }
            }
            System.out.printf(
                    "%s: partition %.1f ns a row, join %.1f ns a row%n",
                    output.getKey(), leastNs[0], leastNs[1]);
        }
    }

    private static Map<String, BulkOutput> outputs() {
        Map<String, BulkOutput> outputs = new LinkedHashMap<>();
        outputs.put("count", new BulkOutput.Count());
        outputs.put("rows", new BulkOutput.Rows(List.of(1), List.of(1)));
        outputs.put(
                "sums",
                new BulkOutput.Groups(
                        new Aggregation(
                                List.of(),
                                List.of(
                                        Aggregate.sum(new JoinColumn(0, 1)),
                                        Aggregate.sum(new JoinColumn(1, 1))))));
        return outputs;
    }

    private static List<Chunk> chunks(int rows, LongUnaryOperator ids) {
        ChunkBuilder builder = new ChunkBuilder(TUPLES, CHUNK_ROWS * TUPLES.fixedRowBytes());
        List<Chunk> chunks = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            builder.putLong(0, KeyHash.hash(ids.applyAsLong(row)));
            builder.putLong(1, row);
            builder.endRow();
            if (builder.isFull() || row == rows - 1) {
                chunks.add(
                        builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0));
            }
        }
        return chunks;
    }

    /** Returns the CPU times of partitioning and joining, in nanoseconds. */
    private static long[] join(
            List<Chunk> left, List<Chunk> right, BulkOutput output, int partitionBits)
            throws InterruptedException {
        BulkJoinSpec spec =
                new BulkJoinSpec(
                        new BulkInput("left", TUPLES, List.of(0)),
                        new BulkInput("right", TUPLES, List.of(0)),
                        BulkJoinKind.INNER,
                        false,
                        output);
        RadixJoinOptions options =
                new RadixJoinOptions(
                        1, partitionBits, RadixJoinOptions.DEFAULT_RESULT_CHUNK_BYTES, null);
        try (RadixLane lane = new RadixLane(spec, options, Long.MAX_VALUE, Allocator.unlimited())) {
            long startNs = THREADS.getCurrentThreadCpuTime();
            for (Chunk chunk : left) {
                lane.append(JoinSide.LEFT, chunk);
            }
            for (Chunk chunk : right) {
                lane.append(JoinSide.RIGHT, chunk);
            }
            long partitionedNs = THREADS.getCurrentThreadCpuTime();
            Map<JoinSide, List<PartitionStore>> stores = new EnumMap<>(JoinSide.class);
            for (JoinSide side : JoinSide.values()) {
                stores.put(side, List.of(lane.store(side)));
            }
            JoinPlan plan =
                    new JoinPlan(
                            spec.kind(),
                            stores,
                            lane.layouts(),
                            options.partitions(),
                            1,
                            Long.MAX_VALUE);
            lane.openWriter(result -> {});
            lane.reserve(plan.tableBytes(0), plan.blockBytes());
            lane.join(stores, List.of(plan.ordinaryPartitions()));
            long joinedNs = THREADS.getCurrentThreadCpuTime();
            return new long[] {partitionedNs - startNs, joinedNs - partitionedNs};
        }
    }
}
