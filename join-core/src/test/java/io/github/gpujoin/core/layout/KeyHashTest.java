// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyHashTest {

    private static final int KEYS = 1 << 17;

    /** Kinds of keys of real tables that weak hashes distribute badly. */
    static Stream<Arguments> keys() {
        Stream<Arguments> strided =
                IntStream.of(1, 8, 16, 24, 31, 32, 33, 40, 46)
                        .mapToObj(bit -> keys("multiples of 2^" + bit, i -> i << bit));
        Random random = new Random(1);
        return Stream.concat(
                strided,
                Stream.of(
                        keys("dense", i -> i),
                        keys("dense, negative", i -> ~i),
                        keys("dense from Long.MIN_VALUE", i -> Long.MIN_VALUE + i),
                        keys("dense after Integer.MAX_VALUE", i -> Integer.MAX_VALUE + i),
                        keys("multiples of 1000", i -> 1000 * i),
                        keys("bits reversed", Long::reverse),
                        keys("both halves the same", i -> i << 32 | i),
                        keys("random", i -> random.nextLong())));
    }

    private static Arguments keys(String name, LongUnaryOperator key) {
        return Arguments.of(name, LongStream.range(0, KEYS).map(key).toArray());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("keys")
    void shouldSpreadKeysEvenlyOverPartitions(String name, long[] keys) {
        for (int partitions : new int[] {2, 7, 128, 1000, 4096}) {
            assertEven(keys, partitions, hash -> KeyHash.partition(hash, partitions));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("keys")
    void shouldSpreadKeysEvenlyOverSlots(String name, long[] keys) {
        for (int slots : new int[] {2, 7, 128, 1000, 4096}) {
            assertEven(keys, slots, hash -> KeyHash.slot(hash, slots));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("keys")
    void shouldSpreadKeysOfOnePartitionOverAllSlots(String name, long[] keys) {
        assertEven(
                keys, 64 * 64, hash -> 64 * KeyHash.partition(hash, 64) + KeyHash.slot(hash, 64));
    }

    /** Checks that Pearson's chi-square is within eight standard deviations of its expectation. */
    private static void assertEven(long[] keys, int cells, LongUnaryOperator cellOfHash) {
        long[] count = new long[cells];
        for (long key : keys) {
            count[(int) cellOfHash.applyAsLong(KeyHash.hash(key))]++;
        }
        double expected = (double) keys.length / cells;
        double chiSquare = 0;
        for (long observed : count) {
            chiSquare += (observed - expected) * (observed - expected) / expected;
        }
        double freedom = cells - 1;
        assertThat(chiSquare)
                .as("chi-square over %s cells", cells)
                .isLessThan(freedom + 8 * Math.sqrt(2 * freedom));
    }

    @Test
    void shouldFlipHalfOfTheHashForEachBitOfTheKey() {
        Random random = new Random(2);
        for (int bit = 0; bit < 64; bit++) {
            long moved = 0;
            for (int i = 0; i < 1_000; i++) {
                long key = random.nextLong();
                moved += Long.bitCount(KeyHash.hash(key) ^ KeyHash.hash(key ^ 1L << bit));
            }
            assertThat(moved / 1_000.0).as("bit %s", bit).isBetween(30.0, 34.0);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 1L << 32, 0xFFFFFFFFL, Long.MIN_VALUE, Long.MAX_VALUE})
    void shouldStayInRangeForEveryHash(long hash) {
        for (int count : new int[] {1, 2, 3, 1 << 30, Integer.MAX_VALUE}) {
            assertThat(KeyHash.partition(hash, count)).isBetween(0, count - 1);
            assertThat(KeyHash.slot(hash, count)).isBetween(0, count - 1);
        }
    }

    @Test
    void shouldNeverChangeWithoutAVersion() {
        assertThat(KeyHash.VERSION).isEqualTo(1);
        assertThat(LongStream.of(0, 1, -1, 42, Long.MIN_VALUE).map(KeyHash::hash))
                .containsExactly(GOLDEN);
        assertThat(KeyHash.partition(KeyHash.hash(42), 128)).isEqualTo(7);
    }

    private static final Long[] GOLDEN = {
        0L, 4717996019076358352L, 4939931809569846361L, 7199933130570745587L, 8233824478078409175L
    };
}
