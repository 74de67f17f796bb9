// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Measures how fast one engine, and several engines of one device, build tables from rows of 16
 * bytes (key, payload). Each engine has a share of the rows and its own thread. Chunks are on the
 * heap before the measurement. Not a test: {@code main} prints one RESULT line for each figure.
 */
public final class BuildProfile {

    private static final int CHUNK_ROWS = 64 << 10;
    private static final int REPEATS = 3;
    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("payload", ColumnType.INT64));
    private static final JoinSpec SPEC =
            new JoinSpec(SCHEMA, List.of(new DimensionSpec("d", SCHEMA, 0, 0, JoinKind.INNER)));

    private BuildProfile() {}

    /**
     * @param args log2 of the number of rows; then the number of rows for each key, default 1
     */
    public static void main(String[] args) throws Exception {
        int buildRows = 1 << Integer.parseInt(args[0]);
        int rowsOfAKey = args.length > 1 ? Integer.parseInt(args[1]) : 1;
        List<Chunk> chunks = new ArrayList<>();
        for (int first = 0; first < buildRows; first += CHUNK_ROWS) {
            chunks.add(chunk(first, rowsOfAKey));
        }
        try (GpuJoinEngine holder = new GpuJoinEngine(SPEC, GpuOptions.defaults())) {
            holder.finishBuild(); // its kernel runs during the copies
            for (int threads : new int[] {1, 2, 4, 8, 16}) {
                measure(chunks, threads, rowsOfAKey);
            }
        }
    }

    private static Chunk chunk(int first, int rowsOfAKey) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, CHUNK_ROWS * SCHEMA.fixedRowBytes());
        for (int row = first; row < first + CHUNK_ROWS; row++) {
            builder.putLong(0, row / rowsOfAKey * 0x9E3779B97F4A7C15L);
            builder.putLong(1, row);
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    /** Times at which all chunks were loaded and at which their table was built. */
    private record Times(long loadedNs, long builtNs, double bytesPerRow) {}

    private static void measure(List<Chunk> chunks, int threads, int rowsOfAKey) throws Exception {
        ExecutorService workers = Executors.newFixedThreadPool(threads);
        try {
            for (int repeat = 0; repeat < REPEATS; repeat++) {
                long start = System.nanoTime();
                List<Future<Times>> builds = new ArrayList<>();
                for (int t = 0; t < threads; t++) {
                    int share = chunks.size() / threads;
                    List<Chunk> part = chunks.subList(t * share, (t + 1) * share);
                    builds.add(workers.submit(() -> build(part, start)));
                }
                long loadedNs = 0;
                long builtNs = 0;
                for (Future<Times> build : builds) {
                    loadedNs = Math.max(loadedNs, build.get().loadedNs);
                    builtNs = Math.max(builtNs, build.get().builtNs);
                }
                print("table bytes a row", "B", builds.get(0).get().bytesPerRow);
                double rows = (double) chunks.size() * CHUNK_ROWS;
                String name = "threads=" + threads + " rowsOfAKey=" + rowsOfAKey;
                print(name + " loaded", "G rows/s", rows / loadedNs);
                print(name + " loaded bus", "GB/s", 16 * rows / loadedNs);
                print(name + " loaded and built", "G rows/s", rows / builtNs);
            }
        } finally {
            workers.shutdownNow();
        }
    }

    private static Times build(List<Chunk> chunks, long start) {
        try (GpuJoinEngine engine = new GpuJoinEngine(SPEC, GpuOptions.defaults())) {
            chunks.forEach(chunk -> engine.submitBuild(0, chunk));
            long loaded = System.nanoTime();
            engine.finishBuild();
            long built = System.nanoTime();
            double tableBytes = engine.stats().tableBytes();
            return new Times(
                    loaded - start, built - start, tableBytes / engine.stats().buildRows());
        }
    }

    private static void print(String name, String unit, double value) {
        System.out.printf(Locale.ROOT, "RESULT %s = %.3f %s%n", name, value, unit);
    }
}
