// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyFingerprintsTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("hash", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32),
                    Column.nullable("text", ColumnType.STRING),
                    Column.of("key", ColumnType.BYTES));
    private static final DimensionSpec PRICES =
            new DimensionSpec("prices", SCHEMA, 0, 0, JoinKind.INNER, 1, 3);

    private static Object[] row(long hash, String key, RowChange change) {
        return new Object[] {
            hash, change.code(), "text", key.getBytes(StandardCharsets.ISO_8859_1)
        };
    }

    private static Chunk upsert(long hash, String key) {
        return TestChunks.of(SCHEMA, row(hash, key, RowChange.UPSERT));
    }

    private static Chunk delete(long hash, String key) {
        return TestChunks.of(SCHEMA, row(hash, key, RowChange.DELETE));
    }

    /** Keys share a hash one after the other, never at one time. */
    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldAcceptChangesWithoutCollisionAndRejectTheFirstOne(long seed) {
        Random random = new Random(seed);
        int hashes = 20_000;
        // in two of three seeds, hashes whose lower halves are equal
        long step = seed == 1 ? 1 : 1L << 32;
        Map<Integer, Integer> live = new HashMap<>();
        MemoryAccount account = new MemoryAccount("host");
        try (KeyFingerprints keys = new KeyFingerprints(PRICES, account.within(Long.MAX_VALUE))) {
            for (int round = 0; round < 30; round++) {
                List<Object[]> rows = new ArrayList<>();
                for (int i = 0; i < 3_000; i++) {
                    int hash = random.nextInt(hashes);
                    int version = live.getOrDefault(hash, random.nextInt());
                    boolean deletes = random.nextInt(3) == 0;
                    RowChange change = deletes ? RowChange.DELETE : RowChange.UPSERT;
                    rows.add(row(hash * step, hash + " " + version, change));
                    if (deletes) {
                        live.remove(hash);
                    } else {
                        live.put(hash, version);
                    }
                }
                keys.apply(TestChunks.of(SCHEMA, 0, rows));
            }
            assertThat(live).hasSizeBetween(hashes / 4, hashes);
            for (int hash = 0; hash < hashes; hash++) {
                Chunk other = upsert(hash * step, "other");
                if (live.containsKey(hash)) {
                    assertCollides(keys, other);
                } else {
                    keys.apply(other);
                }
            }
        }
        assertThat(account.usedBytes()).isZero();
    }

    private static void assertCollides(KeyFingerprints keys, Chunk change) {
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(() -> keys.apply(change))
                .withMessageContaining("dimension=prices, hash=")
                .extracting(GpuUnavailableException::failure)
                .isEqualTo(GpuFailure.HASH_COLLISION);
    }

    @Test
    void shouldRejectDeletionOfAnotherKeyWithTheHashOfALiveRow() {
        try (KeyFingerprints keys =
                new KeyFingerprints(PRICES, new MemoryAccount("host").within(1 << 20))) {
            keys.apply(delete(7, "absent"));
            keys.apply(upsert(7, "a"));
            assertCollides(keys, delete(7, "b"));
            keys.apply(delete(7, "a"));
            keys.apply(upsert(7, "b"));
        }
    }

    /** Keys that differ in their last bytes, in length alone, or in the order of their words. */
    @ParameterizedTest
    @ValueSource(
            strings = {"", "\0", "\0\0\0\0", "\0\0\0\0\0", "abcd", "abcdefgh", "efghabcd", "abce"})
    void shouldDistinguishKeysThatAreAlike(String key) {
        try (KeyFingerprints keys =
                new KeyFingerprints(PRICES, new MemoryAccount("host").within(1 << 20))) {
            keys.apply(upsert(7, "abc"));
            assertCollides(keys, upsert(7, key));
            keys.apply(delete(7, "abc"));
            keys.apply(upsert(7, key));
            keys.apply(upsert(7, key));
            assertCollides(keys, upsert(7, key + "\0"));
        }
    }
}
