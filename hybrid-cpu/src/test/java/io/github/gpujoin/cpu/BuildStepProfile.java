// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Shows how long a call of {@link JoinEngine#buildStep} takes: time of all steps, their number, and
 * the longest one, for 16-byte tuples. On a busy machine a step may take long although its CPU time
 * is short. A tool, not a test.
 *
 * <p>Arguments: number of build rows, and then kinds of keys (dense, sparse, random, repeated,
 * one), all if there is none.
 */
public final class BuildStepProfile {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int CHUNK_ROWS = 1 << 14;
    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(Column.of("key", ColumnType.INT64), Column.of("row", ColumnType.INT64));
    private static final JoinSpec SPEC =
            new JoinSpec(SCHEMA, List.of(new DimensionSpec("d", SCHEMA, 0, 0, JoinKind.INNER)));

    private BuildStepProfile() {}

    public static void main(String[] args) {
        long rows = Long.parseLong(args[0]);
        List<String> keys =
                args.length > 1
                        ? List.of(args).subList(1, args.length)
                        : List.of("dense", "sparse", "random", "repeated", "one");
        for (String kind : keys) {
            profile(kind, 1_000_000); // compiles the passes
            System.out.println(profile(kind, rows));
        }
    }

    private static String profile(String keys, long rows) {
        try (JoinEngine engine = new CpuJoinEngine(SPEC)) {
            load(engine, keys, rows);
            long start = System.nanoTime();
            long before = start;
            long cpuBefore = THREADS.getCurrentThreadCpuTime();
            long longest = 0;
            long longestCpu = 0;
            long steps = 0;
            for (boolean complete = false; !complete; steps++) {
                complete = engine.buildStep(JoinEngine.BUILD_STEP_ROWS);
                long now = System.nanoTime();
                long cpu = THREADS.getCurrentThreadCpuTime();
                longest = Math.max(longest, now - before);
                longestCpu = Math.max(longestCpu, cpu - cpuBefore);
                before = now;
                cpuBefore = cpu;
            }
            return "keys=%s rows=%d build=%.0f ms steps=%d longest step=%.1f ms, of CPU %.1f ms"
                    .formatted(
                            keys,
                            rows,
                            (before - start) / 1e6,
                            steps,
                            longest / 1e6,
                            longestCpu / 1e6);
        }
    }

    private static void load(JoinEngine engine, String keys, long rows) {
        SplittableRandom random = new SplittableRandom(42);
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, CHUNK_ROWS * 16 + 4096);
        for (long row = 0; row < rows; ) {
            for (int i = 0; i < CHUNK_ROWS && row < rows; i++, row++) {
                builder.putLong(0, key(keys, row, rows, random));
                builder.putLong(1, row);
                builder.endRow();
            }
            engine.submitBuild(0, builder.seal(0, ChunkDescriptor.UNPARTITIONED, 0, 0));
        }
    }

    private static long key(String keys, long row, long rows, SplittableRandom random) {
        return switch (keys) {
            case "dense" -> row;
            case "sparse" -> 7 * row;
            case "random" -> KeyHash.hash(row);
            case "repeated" -> KeyHash.hash(random.nextLong(rows / 4));
            case "one" -> 42;
            default -> throw new IllegalArgumentException("Unknown kind of keys: " + keys);
        };
    }
}
