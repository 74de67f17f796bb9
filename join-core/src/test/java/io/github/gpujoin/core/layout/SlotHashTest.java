// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.testing.CraftedKeys;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlotHashTest {

    private static final int SLOTS = 1_000_003;

    /** Counts pairs of keys that share a slot; n (n - 1) / (2 SLOTS) are expected. */
    private static long sharedSlots(long[] keys, long seed, long multiplier) {
        int[] slots =
                Arrays.stream(keys)
                        .mapToInt(k -> SlotHash.slot(SlotHash.hash(k, seed, multiplier), SLOTS))
                        .sorted()
                        .toArray();
        long pairs = 0;
        int equal = 0;
        for (int i = 1; i < slots.length; i++) {
            equal = slots[i] == slots[i - 1] ? equal + 1 : 0;
            pairs += equal;
        }
        return pairs;
    }

    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldSpreadAnyKeys(long testSeed) {
        Random random = new Random(testSeed);
        long seed = random.nextLong();
        long multiplier = random.nextLong() | 1;
        int count = 1 << 14;
        long expected = (long) count * count / (2L * SLOTS);
        for (long[] keys :
                new long[][] {
                    CraftedKeys.ofOneHashHalf(count),
                    LongStream.range(0, count).toArray(),
                    LongStream.range(0, count).map(i -> i << 32).toArray(),
                    LongStream.range(0, count).map(i -> i << 50).toArray(),
                    LongStream.range(0, count).map(i -> i * SLOTS).toArray()
                }) {
            assertThat(sharedSlots(keys, seed, multiplier)).isLessThan(4 * expected);
        }
    }

    @Test
    void shouldCraftKeysThatShareAnUnseededSlot() {
        assertThat(CraftedKeys.ofOneHashHalf(1_000)).doesNotHaveDuplicates();
        assertThat(Arrays.stream(CraftedKeys.ofOneHashHalf(1_000)).boxed())
                .extracting(key -> KeyHash.slot(KeyHash.hash(key), SLOTS))
                .containsOnly(KeyHash.slot(0x5EED_0000_0000_0000L, SLOTS));
    }

    @Test
    void shouldDistinguishAllKeys() {
        assertThat(LongStream.range(-5_000, 5_000).map(SlotHash::hash).boxed())
                .doesNotHaveDuplicates();
        assertThat(SlotHash.MULTIPLIER & 1).isEqualTo(1);
    }
}
