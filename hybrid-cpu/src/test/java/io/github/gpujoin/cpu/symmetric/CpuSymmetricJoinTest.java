// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.LimitedReservations;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.lang.ref.WeakReference;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The tests of growth and compaction, which small data does not reach. */
@ExtendWith(RegionLeakExtension.class)
class CpuSymmetricJoinTest {

    private static final int LEFT = 0;
    private static final int RIGHT = 1;

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("row", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32));

    @TempDir private static Path directory;

    /** Enough for several splits of segments. */
    private static final int ROWS = 100_000;

    private static final int CHUNK_ROWS = 1_000;

    /** Key of {@link #chunkOfOneRow}. */
    private static final int KEY = 11;

    /** Rows that share a key. */
    private static final int FAN_OUT = 2;

    private static SymmetricInput input(String name, RowIdentity identity) {
        return new SymmetricInput(
                name,
                SCHEMA,
                0,
                SymmetricInput.NONE,
                SymmetricInput.NONE,
                identity == RowIdentity.APPEND_ONLY ? SymmetricInput.NONE : 2,
                identity,
                identity == RowIdentity.UNIQUE_COLUMNS || identity == RowIdentity.MULTISET
                        ? List.of(1)
                        : List.of(),
                SymmetricInput.FOREVER);
    }

    private static SymmetricJoin open(BulkJoinKind kind, RowIdentity left) {
        return open(kind, left, MemoryReservations.unlimited(), null);
    }

    private static SymmetricJoin open(
            BulkJoinKind kind,
            RowIdentity left,
            MemoryReservations memory,
            @Nullable Path spillDirectory) {
        SymmetricJoin join =
                new CpuSymmetricJoinFactory()
                        .create(
                                new SymmetricJoinSpec(
                                        input("l", left),
                                        input("r", RowIdentity.APPEND_ONLY),
                                        kind),
                                MatchCondition.ALWAYS,
                                memory,
                                spillDirectory);
        join.finishLoad(0);
        return join;
    }

    private static long key(RowIdentity identity, int row) {
        return identity == RowIdentity.JOIN_KEY ? row : row / FAN_OUT;
    }

    /** Submits some rows in chunks. */
    private static void submit(
            SymmetricJoin join, RowIdentity identity, ChangeKind kind, IntPredicate selected) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, CHUNK_ROWS * SCHEMA.fixedRowBytes());
        for (int row = 0; row < ROWS; row++) {
            if (selected.test(row)) {
                builder.putLong(0, key(identity, row));
                builder.putLong(1, row);
                builder.putInt(2, kind.code());
                builder.endRow();
            }
            if (builder.isFull() || row == ROWS - 1) {
                join(join, LEFT, builder.seal(ChunkDescriptor.FACTS, 0, 0, 0));
            }
        }
    }

    /** Returns the number of results of each left row. */
    private static Map<Long, Integer> join(SymmetricJoin join, int input, Chunk chunk) {
        Map<Long, Integer> rows = new HashMap<>();
        assertThat(join.submit(input, chunk, 0, 0)).isTrue();
        SymmetricBatch batch;
        do {
            batch = join.poll();
            for (int i = 0; i < batch.resultCount(); i++) {
                Chunk left = batch.chunk(LEFT, i);
                rows.merge(left.getLong(1, batch.row(LEFT, i)), 1, Integer::sum);
            }
        } while (!batch.isLast());
        return rows;
    }

    /** Joins one right row for each key, and asserts that the selected left rows match once. */
    private static void assertMatches(
            SymmetricJoin join, RowIdentity identity, IntPredicate selected) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, CHUNK_ROWS * SCHEMA.fixedRowBytes());
        Map<Long, Integer> results = new HashMap<>();
        long lastKey = key(identity, ROWS - 1);
        for (long key = 0; key <= lastKey; key++) {
            builder.putLong(0, key);
            builder.putLong(1, -1);
            builder.putInt(2, 0);
            builder.endRow();
            if (builder.isFull() || key == lastKey) {
                Chunk right = builder.seal(ChunkDescriptor.FACTS, 0, 0, 0);
                join(join, RIGHT, right)
                        .forEach((row, count) -> results.merge(row, count, Integer::sum));
            }
        }
        Map<Long, Integer> expected = new HashMap<>();
        for (int row = 0; row < ROWS; row++) {
            if (selected.test(row)) {
                expected.put((long) row, 1);
            }
        }
        assertThat(results).isEqualTo(expected);
        assertThat(join.stats().tableRows().get(LEFT)).isEqualTo(expected.size());
    }

    @ParameterizedTest
    @EnumSource(RowIdentity.class)
    void shouldFindAllRowsAfterGrowth(RowIdentity identity) {
        try (SymmetricJoin join = open(BulkJoinKind.INNER, identity)) {
            submit(join, identity, ChangeKind.INSERT, row -> true);
            assertMatches(join, identity, row -> true);
        }
    }

    @ParameterizedTest
    @EnumSource(names = "APPEND_ONLY", mode = EnumSource.Mode.EXCLUDE)
    void shouldCopyTheFewRowsOfMostlyDeadChunks(RowIdentity identity) {
        try (SymmetricJoin join = open(BulkJoinKind.INNER, identity)) {
            submit(join, identity, ChangeKind.INSERT, row -> true);
            long fullBytes = join.stats().memoryBytes();
            submit(join, identity, ChangeKind.DELETE, row -> row % 50 != 7);
            submit(join, identity, ChangeKind.DELETE, row -> false);
            assertThat(fullBytes - join.stats().memoryBytes())
                    .isGreaterThan(ROWS * SCHEMA.fixedRowBytes() * 7L / 10);
            assertThat(join.stats().unknownRetractions()).isZero();
            submit(join, identity, ChangeKind.DELETE, row -> row % 150 == 7);
            submit(join, identity, ChangeKind.INSERT, row -> row % 1_000 == 0);
            assertMatches(
                    join, identity, row -> row % 50 == 7 && row % 150 != 7 || row % 1_000 == 0);
        }
    }

    @ParameterizedTest
    @EnumSource(names = "APPEND_ONLY", mode = EnumSource.Mode.EXCLUDE)
    void shouldReuseTheMemoryOfDeletedRows(RowIdentity identity) {
        try (SymmetricJoin join = open(BulkJoinKind.LEFT, identity)) {
            long firstBytes = 0;
            for (int round = 0; round < 4; round++) {
                submit(join, identity, ChangeKind.INSERT, row -> true);
                submit(join, identity, ChangeKind.DELETE, row -> true);
                join.expire(0);
                assertThat(join.stats().tableRows().get(LEFT)).isZero();
                firstBytes = round == 0 ? join.stats().memoryBytes() : firstBytes;
            }
            assertThat(join.stats().memoryBytes()).isLessThanOrEqualTo(firstBytes * 5 / 4);
            submit(join, identity, ChangeKind.INSERT, row -> true);
            assertMatchesOfLeftJoin(join);
        }
    }

    @ParameterizedTest
    @EnumSource(names = "APPEND_ONLY", mode = EnumSource.Mode.EXCLUDE)
    void shouldReleaseChunksOfDeletedRowsToTheCollector(RowIdentity identity) throws Exception {
        try (SymmetricJoin join = open(BulkJoinKind.LEFT, identity)) {
            List<WeakReference<Chunk>> chunks = new ArrayList<>();
            for (int round = 0; round < 100; round++) {
                for (ChangeKind kind : List.of(ChangeKind.INSERT, ChangeKind.DELETE)) {
                    Chunk chunk = chunkOfOneRow(kind);
                    join(join, LEFT, chunk);
                    chunks.add(new WeakReference<>(chunk));
                }
            }
            join.expire(0);
            long reachable = chunks.size();
            for (int attempt = 0; attempt < 50 && reachable > 2; attempt++) {
                System.gc();
                Thread.sleep(10);
                reachable = chunks.stream().filter(chunk -> chunk.get() != null).count();
            }
            assertThat(reachable).isLessThanOrEqualTo(2);
        }
    }

    /** The rows of the left input have 2 MB, and its tables 3 to 8 MB. */
    @ParameterizedTest
    @EnumSource(RowIdentity.class)
    void shouldSpillChunksThatExceedMemory(RowIdentity identity) {
        long limitBytes = limitBytes(identity);
        try (SymmetricJoin join =
                open(BulkJoinKind.INNER, identity, limited(limitBytes), directory)) {
            submit(join, identity, ChangeKind.INSERT, row -> true);
            assertThat(join.stats().spilledBytes()).isGreaterThan(ROWS);
            assertThat(join.stats().memoryBytes()).isLessThanOrEqualTo(limitBytes);
            assertMatches(join, identity, row -> true);
        }
    }

    @ParameterizedTest
    @EnumSource(names = "APPEND_ONLY", mode = EnumSource.Mode.EXCLUDE)
    void shouldFreeSpilledChunksOfDeletedRows(RowIdentity identity) {
        try (SymmetricJoin join =
                open(BulkJoinKind.INNER, identity, limited(limitBytes(identity)), directory)) {
            submit(join, identity, ChangeKind.INSERT, row -> true);
            submit(join, identity, ChangeKind.DELETE, row -> row % 50 != 7);
            submit(join, identity, ChangeKind.DELETE, row -> false);
            assertThat(join.stats().spilledBytes()).isLessThan(ROWS * SCHEMA.fixedRowBytes() / 2);
            assertMatches(join, identity, row -> row % 50 == 7);
        }
    }

    /** A file has room for nine of these rows, of which one stays. */
    @Test
    void shouldFreeAFileOfWhichFewRowsStay() {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("key", ColumnType.INT64),
                        Column.of("row", ColumnType.INT64),
                        Column.of("change", ColumnType.INT32),
                        Column.of("text", ColumnType.STRING));
        SymmetricInput left =
                new SymmetricInput(
                        "l",
                        schema,
                        0,
                        SymmetricInput.NONE,
                        SymmetricInput.NONE,
                        2,
                        RowIdentity.JOIN_KEY,
                        List.of(),
                        SymmetricInput.FOREVER);
        SymmetricJoinSpec spec =
                new SymmetricJoinSpec(
                        left, input("r", RowIdentity.APPEND_ONLY), BulkJoinKind.INNER);
        String text = "x".repeat(7 << 20);
        try (SymmetricJoin join =
                new CpuSymmetricJoinFactory()
                        .create(spec, MatchCondition.ALWAYS, limited(16 << 20), directory)) {
            join.finishLoad(0);
            for (int key = KEY; key < KEY + 14; key++) {
                join(join, LEFT, change(schema, ChangeKind.INSERT, key, text));
            }
            long files = Region.openCount();
            for (int key = KEY + 1; key < KEY + 9; key++) {
                join(join, LEFT, change(schema, ChangeKind.DELETE, key, ""));
            }
            join.expire(0);
            assertThat(Region.openCount()).isEqualTo(files - 1);
            assertThat(join(join, RIGHT, chunkOfOneRow(ChangeKind.INSERT)))
                    .isEqualTo(Map.of((long) KEY, 1));
        }
    }

    private static Chunk change(ChunkSchema schema, ChangeKind kind, int key, String text) {
        ChunkBuilder builder = new ChunkBuilder(schema, schema.fixedRowBytes());
        builder.putLong(0, key);
        builder.putLong(1, key);
        builder.putInt(2, kind.code());
        builder.addString(text);
        builder.endRow();
        return builder.seal(ChunkDescriptor.FACTS, 0, 0, 0);
    }

    @Test
    void shouldNameTheCauseIfChunksCannotBeSpilled() {
        RowIdentity identity = RowIdentity.APPEND_ONLY;
        Path missing = directory.resolve("missing");
        try (SymmetricJoin join =
                open(BulkJoinKind.INNER, identity, limited(limitBytes(identity)), missing)) {
            assertThatThrownBy(() -> submit(join, identity, ChangeKind.INSERT, row -> true))
                    .isInstanceOf(MemoryRefusedException.class)
                    .satisfies(
                            e ->
                                    assertThat(e.getSuppressed())
                                            .singleElement()
                                            .isInstanceOf(NoSuchFileException.class));
        }
    }

    /** Returns a limit that tables of all rows fit, and their chunks do not. */
    private static long limitBytes(RowIdentity identity) {
        try (SymmetricJoin join = open(BulkJoinKind.INNER, identity)) {
            submit(join, identity, ChangeKind.INSERT, row -> true);
            return join.stats().memoryBytes() - ROWS * SCHEMA.fixedRowBytes() / 2;
        }
    }

    private static MemoryReservations limited(long limitBytes) {
        return new LimitedReservations(MemoryReservations.unlimited(), limitBytes);
    }

    private static Chunk chunkOfOneRow(ChangeKind kind) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, SCHEMA.fixedRowBytes());
        builder.putLong(0, KEY);
        builder.putLong(1, -1);
        builder.putInt(2, kind.code());
        builder.endRow();
        return builder.seal(ChunkDescriptor.FACTS, 0, 0, 0);
    }

    private static void assertMatchesOfLeftJoin(SymmetricJoin join) {
        Chunk right = chunkOfOneRow(ChangeKind.INSERT);
        assertThat(join(join, RIGHT, right).values()).isNotEmpty().containsOnly(2);
    }
}
