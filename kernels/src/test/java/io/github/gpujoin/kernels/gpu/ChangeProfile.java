// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Measures how fast a table applies changes of 20 bytes each (key, payload, kind), in batches of
 * several sizes with one fact after each. Chunks are on the heap before the measurement. Not a
 * test: {@code main} prints one RESULT line for each figure.
 */
public final class ChangeProfile {

    private static final int ROUNDS = 50;
    private static final int CHUNK_ROWS = 64 << 10;
    private static final ChunkSchema FACTS = ChunkSchema.of(Column.of("k", ColumnType.INT64));
    private static final ChunkSchema SIDE =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("payload", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32));
    private static final JoinSpec SPEC =
            new JoinSpec(FACTS, List.of(new DimensionSpec("d", SIDE, 0, 0, JoinKind.INNER, 2)));

    private final Random random = new Random(1);
    private final long keys;
    private final GpuOptions options;
    private final Chunk fact;

    private ChangeProfile(long keys, GpuOptions options) {
        this.keys = keys;
        this.options = options;
        ChunkBuilder builder = new ChunkBuilder(FACTS, Long.BYTES);
        builder.putLong(0, 1);
        builder.endRow();
        this.fact = builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    /**
     * @param args log2 of the number of rows of the table; then, if not one device and BY_SIZE, the
     *     number of devices and the spread of the table
     */
    public static void main(String[] args) {
        GpuOptions options = GpuOptions.defaults();
        if (args.length > 1) {
            int devices = Integer.parseInt(args[1]);
            options =
                    options.withDevices(IntStream.range(0, devices).boxed().toList())
                            .withSpread(TableSpread.valueOf(args[2]));
        }
        new ChangeProfile(1L << Integer.parseInt(args[0]), options).run();
    }

    private void run() {
        try (GpuJoinEngine engine = new GpuJoinEngine(SPEC, options)) {
            long ns = 0;
            for (long first = 0; first < keys; first += CHUNK_ROWS) {
                Chunk chunk = changes(CHUNK_ROWS, first);
                long start = System.nanoTime();
                engine.submitBuild(0, chunk);
                ns += System.nanoTime() - start;
            }
            long start = System.nanoTime();
            engine.finishBuild();
            ns += System.nanoTime() - start;
            print("loaded", "M changes/s", 1e3 * keys / ns);
            print("table bytes a row", "B", (double) engine.stats().tableBytes() / keys);
            joinFact(engine);
            measure(engine, 0);
            for (int batch : new int[] {1, 1 << 10, 1 << 16}) {
                measure(engine, batch);
            }
        }
    }

    private void measure(GpuJoinEngine engine, int batch) {
        Chunk[] chunks = new Chunk[ROUNDS];
        for (int i = 0; i < ROUNDS && batch > 0; i++) {
            chunks[i] = changes(batch, -1);
        }
        long start = System.nanoTime();
        for (Chunk chunk : chunks) {
            if (chunk != null) {
                engine.submitBuild(0, chunk);
            }
            joinFact(engine);
        }
        double us = (System.nanoTime() - start) / 1e3 / ROUNDS;
        print("a batch of " + batch + " changes and a fact", "us", us);
        if (batch > 0) {
            print("in batches of " + batch, "M changes/s", batch / us);
        }
    }

    /**
     * @param firstKey first of consecutive keys; -1 for random keys, a quarter of them deletions
     */
    private Chunk changes(int count, long firstKey) {
        ChunkBuilder builder = new ChunkBuilder(SIDE, count * SIDE.fixedRowBytes());
        for (int i = 0; i < count; i++) {
            long number = firstKey < 0 ? random.nextLong(keys) : firstKey + i;
            boolean deletes = firstKey < 0 && random.nextInt(4) == 0;
            builder.putLong(0, number * 0x9E3779B97F4A7C15L);
            builder.putLong(1, i);
            builder.putInt(2, (deletes ? RowChange.DELETE : RowChange.UPSERT).code());
            builder.endRow();
        }
        return builder.seal(0, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    private void joinFact(GpuJoinEngine engine) {
        engine.submitProbe(fact, 0);
        while (engine.inFlightCount() > 0) {
            engine.poll();
        }
    }

    private static void print(String name, String unit, double value) {
        System.out.printf(Locale.ROOT, "RESULT %s = %.3f %s%n", name, value, unit);
    }
}
