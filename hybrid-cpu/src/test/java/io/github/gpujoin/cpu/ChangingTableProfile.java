// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.region.Memory;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Measures a dimension that changes: the rate of upserts, the longest call that applies a chunk of
 * them, and the rate of probes, all by CPU time of one thread. Rows are a key and a payload of 8
 * bytes each; probe keys are uniform and all match. A tool, not a test.
 *
 * <p>Arguments: number of rows; how many million keys a round probes (20 by default); {@code
 * hashed} for keys that are hashes of 16 bytes, which rows contain too.
 */
public final class ChangingTableProfile {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 7;
    private static final int CHUNK_ROWS = 1 << 13;
    private static final ChunkSchema FACTS = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final ChunkSchema SIDE =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("payload", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32));
    private static final ChunkSchema HASHED_SIDE =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("payload", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32),
                    Column.of("key_bytes", ColumnType.BYTES));
    private static final DimensionSpec EXACT =
            new DimensionSpec("d", SIDE, 0, 0, JoinKind.INNER, 2);
    private static final DimensionSpec HASHED =
            new DimensionSpec("d", HASHED_SIDE, 0, 0, JoinKind.INNER, 2, 3);

    private ChangingTableProfile() {}

    public static void main(String[] args) {
        long rows = Long.parseLong(args[0]);
        long probes = 1_000_000L * (args.length > 1 ? Long.parseLong(args[1]) : 20);
        DimensionSpec side = args.length > 2 && args[2].equals("hashed") ? HASHED : EXACT;
        // compiles the loops
        System.out.println(profile(side, Math.min(rows, 1_000_000), probes / 4));
        System.out.println(profile(side, rows, probes));
    }

    private static String profile(DimensionSpec side, long rows, long probes) {
        try (JoinEngine engine = new CpuJoinEngine(new JoinSpec(FACTS, List.of(side)))) {
            engine.finishBuild();
            long[] load = load(engine, side, rows);
            double tableBytes = engine.stats().tableBytes();
            List<Chunk> chunks = facts(rows);
            double[] rates = new double[ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                rates[round] = probeRate(engine, chunks, probes);
            }
            Arrays.sort(rates);
            return "rows=%d upserts=%.1f M/s longest call=%.1f ms bytes/row=%.1f probes=%.1f M/s, best %.1f"
                    .formatted(
                            rows,
                            rows * 1e3 / load[0],
                            load[1] / 1e6,
                            tableBytes / rows,
                            rates[ROUNDS / 2] / 1e6,
                            rates[ROUNDS - 1] / 1e6);
        }
    }

    /** CPU time of all calls and of the longest, in nanoseconds. */
    private static long[] load(JoinEngine engine, DimensionSpec side, long rows) {
        ChunkBuilder builder = new ChunkBuilder(side.schema(), CHUNK_ROWS * 44 + 4096);
        byte[] keyBytes = new byte[16];
        long all = 0;
        long longest = 0;
        for (long row = 0; row < rows; ) {
            for (int i = 0; i < CHUNK_ROWS && row < rows; i++, row++) {
                builder.putLong(0, KeyHash.hash(row));
                builder.putLong(1, row);
                builder.putInt(2, RowChange.UPSERT.code());
                if (side.isHashed()) {
                    Memory.putLong(keyBytes, Memory.BYTES, row);
                    builder.addBytes(keyBytes, 0, keyBytes.length);
                }
                builder.endRow();
            }
            Chunk chunk = builder.seal(0, ChunkDescriptor.UNPARTITIONED, 0, 0);
            long start = THREADS.getCurrentThreadCpuTime();
            engine.submitBuild(0, chunk);
            long ns = THREADS.getCurrentThreadCpuTime() - start;
            all += ns;
            longest = Math.max(longest, ns);
        }
        return new long[] {all, longest};
    }

    private static List<Chunk> facts(long rows) {
        SplittableRandom random = new SplittableRandom(42);
        ChunkBuilder builder = new ChunkBuilder(FACTS, CHUNK_ROWS * 8 + 4096);
        List<Chunk> chunks = new ArrayList<>();
        for (int chunk = 0; chunk < 512; chunk++) {
            for (int i = 0; i < CHUNK_ROWS; i++) {
                builder.putLong(0, KeyHash.hash(random.nextLong(rows)));
                builder.endRow();
            }
            chunks.add(
                    builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, chunk));
        }
        return chunks;
    }

    private static double probeRate(JoinEngine engine, List<Chunk> chunks, long probes) {
        long start = THREADS.getCurrentThreadCpuTime();
        long probed = 0;
        long found = 0;
        for (int next = 0; probed < probes; next++) {
            Chunk chunk = chunks.get(next % chunks.size());
            engine.submitProbe(chunk, 0);
            for (ResultBatch batch = engine.poll(); batch != null; batch = engine.poll()) {
                found += batch.rowCount();
            }
            probed += chunk.rowCount();
        }
        if (found != probed) {
            throw new IllegalStateException("found=" + found + ", probed=" + probed);
        }
        return probed * 1e9 / (THREADS.getCurrentThreadCpuTime() - start);
    }
}
