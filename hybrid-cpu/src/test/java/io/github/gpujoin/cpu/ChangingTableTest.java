// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.core.region.Region;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A changing table of more than one segment; the engines' conformance tests cover small ones. */
class ChangingTableTest {

    private static final int CHUNK_ROWS = 1_000;
    private static final ChunkSchema NUMBERS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("number", ColumnType.INT32),
                    Column.of("change", ColumnType.INT32));
    private static final ChunkSchema TEXTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("text", ColumnType.STRING),
                    Column.of("change", ColumnType.INT32));

    private static ChangingTable table(ChunkSchema schema, Allocator allocator) {
        return new ChangingTable(
                new DimensionSpec("d", schema, 0, 0, JoinKind.INNER, 2), allocator);
    }

    private static ChangingTable table(ChunkSchema schema) {
        return table(schema, Allocator.unlimited());
    }

    /**
     * Upserts keys from {@code from} to {@code to - 1}; returns the most rows that a call moved.
     */
    private static long upsert(
            ChangingTable table, ChunkSchema schema, int from, int to, LongFunction<Object> value) {
        long most = 0;
        for (int first = from; first < to; first += CHUNK_ROWS) {
            List<Object[]> rows = new ArrayList<>();
            for (long key = first; key < Math.min(to, first + CHUNK_ROWS); key++) {
                rows.add(new Object[] {key, value.apply(key), RowChange.UPSERT.code()});
            }
            table.apply(TestChunks.of(schema, 0, rows));
            most = Math.max(most, table.movedRows());
        }
        return most;
    }

    @Test
    void shouldMoveRowsInProportionToChunkDuringGrowth() {
        try (ChangingTable table = table(NUMBERS)) {
            long most = upsert(table, NUMBERS, 0, 1_000_000, key -> (int) key);
            assertThat(table.rowCount()).isEqualTo(1_000_000);
            assertThat(most).isLessThanOrEqualTo(20L * CHUNK_ROWS);
        }
    }

    @Test
    void shouldMoveRowsInProportionToChunkDuringCompaction() {
        try (ChangingTable table = table(TEXTS)) {
            upsert(table, TEXTS, 0, 200_000, key -> "some text " + key);
            long full = table.lengthBytes();
            long most = 0;
            for (int round = 0; round < 5; round++) {
                most = Math.max(most, upsert(table, TEXTS, 0, 200_000, key -> "other text " + key));
            }
            assertThat(table.lengthBytes()).isLessThan(2 * full);
            assertThat(most).isLessThanOrEqualTo(20L * CHUNK_ROWS);
        }
    }

    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldFindLastRowOfEachKey(long seed) {
        Random random = new Random(seed);
        int keys = 20_000 + random.nextInt(100_000);
        // every other time the lower halves of the keys repeat
        long step = seed % 2 == 0 ? 1 : 0x1_0000_0000L;
        Map<Long, String> live = new HashMap<>();
        try (ChangingTable table = table(TEXTS);
                PagedMemory memory = new PagedMemory()) {
            KeyLookup lookup = table.addressLookup(1, memory);
            for (int round = 0; round < 60; round++) {
                // deletes prevail in every third round
                table.apply(changes(random, keys, step, round % 3 == 2 ? 80 : 10, live));
                assertThat(table.rowCount()).isEqualTo(live.size());
                for (int i = 0; i < 100; i++) {
                    assertHolds(table, lookup, random.nextInt(keys) * step, live);
                }
            }
            for (long key = 0; key < keys; key++) {
                assertHolds(table, lookup, key * step, live);
            }
        }
    }

    /** Many keys share a hash, few, or none; in the end none. */
    @ParameterizedTest(name = "hashes={0} of 40,000 keys")
    @ValueSource(ints = {10_000, 39_990, 40_000})
    void shouldFindTheRowsOfAllKeysOfAHash(int hashes) {
        int keys = 40_000;
        Random random = new Random(hashes);
        Set<Integer> live = new HashSet<>();
        DimensionSpec side = new DimensionSpec("d", TEXTS, 0, 0, JoinKind.INNER, 2, 1);
        try (ChangingTable table = new ChangingTable(side, Allocator.unlimited());
                PagedMemory memory = new PagedMemory()) {
            KeyLookup lookup = table.addressLookup(1, memory);
            for (int round = 0; round < 40; round++) {
                // deletes prevail in every third round
                int deletePercent = round % 3 == 2 ? 80 : 10;
                table.apply(hashedChanges(random, keys, hashes, deletePercent, live));
                assertThat(table.rowCount()).isEqualTo(live.size());
            }
            Map<Long, List<Integer>> keysByHash =
                    live.stream().collect(Collectors.groupingBy(key -> (long) key % hashes));
            assertThat(table.isUnique()).isEqualTo(keysByHash.size() == live.size());
            for (long hash = 0; hash < hashes; hash++) {
                assertThat(textsOf(table, lookup, hash))
                        .containsExactlyInAnyOrderElementsOf(
                                keysByHash.getOrDefault(hash, List.of()).stream()
                                        .map(key -> "%05d".formatted(key))
                                        .toList());
            }
            table.apply(
                    TestChunks.of(
                            TEXTS,
                            0,
                            keysByHash.values().stream()
                                    .flatMap(same -> same.stream().skip(1))
                                    .map(key -> hashed(key, hashes, RowChange.DELETE))
                                    .toList()));
            assertThat(table.rowCount()).isEqualTo(keysByHash.size());
            assertThat(table.isUnique()).isTrue();
        }
    }

    private static Chunk hashedChanges(
            Random random, int keys, int hashes, int deletePercent, Set<Integer> live) {
        List<Object[]> rows = new ArrayList<>();
        for (int i = random.nextInt(6_000); i >= 0; i--) {
            int key = random.nextInt(keys);
            boolean deletes = random.nextInt(100) < deletePercent;
            rows.add(hashed(key, hashes, deletes ? RowChange.DELETE : RowChange.UPSERT));
            if (deletes) {
                live.remove(key);
            } else {
                live.add(key);
            }
        }
        return TestChunks.of(TEXTS, 0, rows);
    }

    private static Object[] hashed(int key, int hashes, RowChange change) {
        return new Object[] {(long) key % hashes, "%05d".formatted(key), change.code()};
    }

    private static List<String> textsOf(ChangingTable table, KeyLookup lookup, long hash) {
        List<String> texts = new ArrayList<>();
        try (Region memory = Region.allocate(24)) {
            long match = memory.address() + 8;
            Memory.putLong(memory.address() + 16, hash);
            if (lookup.findFirst(null, memory.address() + 16, 1, 0, memory.address(), match) > 0) {
                for (long row = Memory.getLong(match); row != 0; row = table.nextMatch(row)) {
                    texts.add(text(table, row, 5));
                }
            }
        }
        return texts;
    }

    private static Chunk changes(
            Random random, int keys, long step, int deletePercent, Map<Long, String> live) {
        List<Object[]> rows = new ArrayList<>();
        for (int i = random.nextInt(6_000); i >= 0; i--) {
            long key = random.nextInt(keys) * step;
            boolean deletes = random.nextInt(100) < deletePercent;
            String text = "x".repeat(random.nextInt(20)) + random.nextInt();
            RowChange change = deletes ? RowChange.DELETE : RowChange.UPSERT;
            rows.add(new Object[] {key, text, change.code()});
            if (deletes) {
                live.remove(key);
            } else {
                live.put(key, text);
            }
        }
        return TestChunks.of(TEXTS, 0, rows);
    }

    private static void assertHolds(
            ChangingTable table, KeyLookup lookup, long key, Map<Long, String> live) {
        try (Region memory = Region.allocate(24)) {
            long numbers = memory.address();
            long match = memory.address() + 8;
            Memory.putLong(memory.address() + 16, key);
            int found = lookup.findFirst(null, memory.address() + 16, 1, 7, numbers, match);
            assertThat(found == 1).isEqualTo(live.containsKey(key));
            if (found == 1) {
                assertThat(Memory.getInt(numbers)).isEqualTo(7);
                assertThat(table.layout().key(Memory.getLong(match))).isEqualTo(key);
                assertThat(text(table, Memory.getLong(match), live.get(key).length()))
                        .isEqualTo(live.get(key));
            }
        }
    }

    /** The last characters of a row's variable-width bytes. */
    private static String text(ChangingTable table, long row, int length) {
        long variableWidth = Memory.getLong(row + table.layout().variableWidthOffset());
        byte[] bytes = new byte[length];
        long end = variableWidth + 4 + Memory.getInt(variableWidth);
        Memory.copy(null, end - length, bytes, Memory.BYTES, length);
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    @Test
    void shouldCountItsBytes() {
        MemoryAccount account = new MemoryAccount("host");
        try (ChangingTable table = table(TEXTS, account.within(Long.MAX_VALUE))) {
            assertThat(table.lengthBytes()).isEqualTo(account.usedBytes());
            for (int round = 0; round < 4; round++) {
                upsert(table, TEXTS, 0, 30_000, key -> "text " + key);
                assertThat(table.lengthBytes()).isEqualTo(account.usedBytes());
            }
        }
        assertThat(account.usedBytes()).isZero();
    }

    @ParameterizedTest(name = "{0} KiB")
    @ValueSource(ints = {0, 1, 5, 100, 700, 1_000, 1_500, 2_000, 2_100, 2_200, 2_300})
    void shouldFreeAllMemoryIfAllocationIsRefused(int kibibytes) {
        MemoryAccount account = new MemoryAccount("host");
        assertThatThrownBy(
                        () -> {
                            try (ChangingTable table =
                                    table(TEXTS, account.within(1024L * kibibytes))) {
                                upsert(table, TEXTS, 0, 100_000, key -> "text " + key);
                            }
                        })
                .isInstanceOf(MemoryRefusedException.class);
        assertThat(account.usedBytes()).isZero();
    }
}
