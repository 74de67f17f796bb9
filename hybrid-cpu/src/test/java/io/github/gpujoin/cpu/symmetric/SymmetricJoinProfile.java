// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Measures a thread that joins 1 M and 10 M appended rows, and a changelog of 4 M rows, half of
 * which are retractions, with 1 M appended rows. A program, not a test; the argument is the number
 * of rounds.
 */
final class SymmetricJoinProfile {

    private static final int LEFT = 0;
    private static final int RIGHT = 1;

    private static final ChunkSchema APPENDED =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("value", ColumnType.INT64));
    private static final ChunkSchema CHANGES =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("value", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32));
    private static final int CHUNK_ROWS = 4096;
    private static final int KEYS = 1 << 20;
    private static final int CHANGED_ROWS = 4 << 20;

    private SymmetricJoinProfile() {}

    public static void main(String[] args) {
        int rounds = args.length == 0 ? 3 : Integer.parseInt(args[0]);
        List<Chunk> left = appended(KEYS, false);
        List<Chunk> right = appended(10 * KEYS, true);
        SymmetricInput rightInput = input("right", RowIdentity.APPEND_ONLY);
        for (int round = 0; round < rounds; round++) {
            SymmetricInput leftInput = input("left", RowIdentity.APPEND_ONLY);
            SymmetricJoinSpec spec =
                    new SymmetricJoinSpec(leftInput, rightInput, BulkJoinKind.INNER);
            measure("append, interleaved", spec, List.of(), left, right);
            measure("append, left rows first", spec, left, List.of(), right);
        }
        List<Chunk> changes = changes();
        List<Chunk> fewer = appended(KEYS, true);
        for (RowIdentity identity : RowIdentity.values()) {
            if (identity != RowIdentity.APPEND_ONLY) {
                for (BulkJoinKind kind : List.of(BulkJoinKind.INNER, BulkJoinKind.LEFT)) {
                    SymmetricJoinSpec spec =
                            new SymmetricJoinSpec(input("left", identity), rightInput, kind);
                    measure("changelog " + identity + " " + kind, spec, List.of(), changes, fewer);
                }
            }
        }
    }

    private static SymmetricInput input(String name, RowIdentity identity) {
        return new SymmetricInput(
                name,
                identity == RowIdentity.APPEND_ONLY ? APPENDED : CHANGES,
                0,
                SymmetricInput.NONE,
                SymmetricInput.NONE,
                identity == RowIdentity.APPEND_ONLY ? SymmetricInput.NONE : 2,
                identity,
                switch (identity) {
                    case UNIQUE_COLUMNS -> List.of(0);
                    case MULTISET -> List.of(0, 1);
                    default -> List.of();
                },
                SymmetricInput.FOREVER);
    }

    // ------------------------------------------------------------------ data

    private static final class Chunks {

        private final List<Chunk> chunks = new ArrayList<>();
        private final ChunkBuilder builder;

        private Chunks(ChunkSchema schema) {
            this.builder = new ChunkBuilder(schema, CHUNK_ROWS * schema.fixedRowBytes());
        }

        private void add(long key, long value, ChangeKind kind) {
            builder.putLong(0, key);
            builder.putLong(1, value);
            if (builder.schema() == CHANGES) {
                builder.putInt(2, kind.code());
            }
            builder.endRow();
            if (builder.isFull()) {
                chunks.add(builder.seal(ChunkDescriptor.FACTS, 0, 0, 0));
            }
        }
    }

    private static List<Chunk> appended(int rows, boolean isRandom) {
        Random random = new Random(1);
        Chunks chunks = new Chunks(APPENDED);
        for (int row = 0; row < rows; row++) {
            long scattered = row * 2654435761L % KEYS;
            chunks.add(isRandom ? random.nextInt(KEYS) : scattered, row, ChangeKind.INSERT);
        }
        return chunks.chunks;
    }

    /** Returns insertions of new keys and updates of old ones. */
    private static List<Chunk> changes() {
        Random random = new Random(2);
        long[] values = new long[KEYS];
        Chunks chunks = new Chunks(CHANGES);
        for (int row = 0; row < CHANGED_ROWS; row++) {
            int key = random.nextInt(KEYS);
            if (values[key] == 0) {
                chunks.add(key, ++values[key], ChangeKind.INSERT);
            } else {
                chunks.add(key, values[key], ChangeKind.UPDATE_BEFORE);
                chunks.add(key, ++values[key], ChangeKind.UPDATE_AFTER);
                row++;
            }
        }
        return chunks.chunks;
    }

    // ------------------------------------------------------------------ runs

    private static void measure(
            String name,
            SymmetricJoinSpec spec,
            List<Chunk> loaded,
            List<Chunk> left,
            List<Chunk> right) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        try (SymmetricJoin join =
                new CpuSymmetricJoinFactory()
                        .create(
                                spec,
                                MatchCondition.ALWAYS,
                                MemoryReservations.unlimited(),
                                null)) {
            loaded.forEach(chunk -> join.load(LEFT, chunk, 0));
            join.finishLoad(0);
            long rows = rows(left) + rows(right);
            long cpuNs = threads.getCurrentThreadCpuTime();
            long wallNs = System.nanoTime();
            long results = join(join, left, right);
            wallNs = System.nanoTime() - wallNs;
            cpuNs = threads.getCurrentThreadCpuTime() - cpuNs;
            System.out.printf(
                    "%s: %.1f M rows per CPU second, %.1f per second, results=%d, MB=%d%n",
                    name,
                    rows * 1e3 / cpuNs,
                    rows * 1e3 / wallNs,
                    results,
                    join.stats().memoryBytes() / 1_000_000);
        }
    }

    private static long rows(List<Chunk> chunks) {
        return chunks.stream().mapToLong(Chunk::rowCount).sum();
    }

    /** Joins the chunks of both inputs in turn, in proportion to their number. */
    private static long join(SymmetricJoin join, List<Chunk> left, List<Chunk> right) {
        long results = 0;
        int lefts = 0;
        int rights = 0;
        while (lefts < left.size() || rights < right.size()) {
            boolean isLeft = (long) lefts * right.size() < (long) (rights + 1) * left.size();
            if (lefts < left.size() && isLeft) {
                join.submit(LEFT, left.get(lefts++), 0, 0);
            } else {
                join.submit(RIGHT, right.get(rights++), 0, 0);
            }
            SymmetricBatch batch;
            do {
                batch = join.poll();
                results += batch.resultCount();
            } while (!batch.isLast());
        }
        return results;
    }
}
