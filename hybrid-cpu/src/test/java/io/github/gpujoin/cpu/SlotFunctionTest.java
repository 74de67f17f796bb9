// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.EngineUnavailableException.Scope;
import io.github.gpujoin.core.layout.testing.CraftedKeys;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SlotFunctionTest {

    private static final long[] KEYS =
            LongStream.concat(
                            LongStream.rangeClosed(-20, 20),
                            LongStream.of(
                                    Long.MIN_VALUE,
                                    Long.MIN_VALUE + 1,
                                    Integer.MIN_VALUE,
                                    Integer.MAX_VALUE,
                                    1L << 32,
                                    Long.MAX_VALUE - 1,
                                    Long.MAX_VALUE))
                    .toArray();

    @ParameterizedTest(name = "keys from {0} to {1}")
    @CsvSource({
        "-3, 5",
        "0, 0",
        "-9223372036854775808, -9223372036854775800",
        "9223372036854775800, 9223372036854775807"
    })
    void shouldMapDenseKeysToDistinctSlots(long minKey, long maxKey) {
        SlotFunction function = SlotFunction.of(10, 16, minKey, maxKey);
        assertThat(function.isDirect()).isTrue();
        assertThat(function.slots()).isEqualTo((int) (maxKey - minKey) + 1);
        for (long key : KEYS) {
            boolean inside = key >= minKey && key <= maxKey;
            assertThat(function.slot(key))
                    .isEqualTo(inside ? (int) (key - minKey) : function.slots());
        }
        assertBatchAgrees(function);
    }

    @ParameterizedTest(name = "keys from {0} to {1}")
    @CsvSource({
        "0, 1000000000",
        "-9223372036854775808, 9223372036854775807",
        "-4611686018427387905, 4611686018427387904"
    })
    void shouldHashSparseKeys(long minKey, long maxKey) {
        SlotFunction function = SlotFunction.of(10, 16, minKey, maxKey);
        assertThat(function.isDirect()).isFalse();
        for (long key : KEYS) {
            assertThat(function.slot(key)).isBetween(0, function.slots() - 1);
        }
        assertBatchAgrees(function);
    }

    private static void assertBatchAgrees(SlotFunction function) {
        try (Region keys = Region.allocate(8L * KEYS.length);
                Region slots = Region.allocate(4L * KEYS.length)) {
            for (int i = 0; i < KEYS.length; i++) {
                Memory.putLong(keys.address() + 8L * i, KEYS[i]);
            }
            function.slots(null, keys.address(), KEYS.length, slots.address());
            for (int i = 0; i < KEYS.length; i++) {
                assertThat(Memory.getInt(slots.address() + 4L * i))
                        .isEqualTo(function.slot(KEYS[i]));
            }
        }
    }

    @Test
    void shouldSpreadAdversarialKeys() {
        long[] keys = CraftedKeys.ofOneHashHalf(1 << 14);
        SlotFunction function = SlotFunction.of(keys.length, 16, Long.MIN_VALUE, Long.MAX_VALUE);
        int[] slots = LongStream.of(keys).mapToInt(function::slot).sorted().toArray();
        long probeSteps = 0;
        int nextFree = 0;
        for (int slot : slots) {
            int position = Math.max(slot, nextFree);
            probeSteps += position - slot;
            nextFree = position + 1;
        }
        assertThat(probeSteps).as("slots that keys are away from theirs").isLessThan(keys.length);
    }

    @Test
    void shouldAcceptEmptyBuildSide() {
        SlotFunction function = SlotFunction.of(0, 16, Long.MAX_VALUE, Long.MIN_VALUE);
        assertThat(function.isDirect()).isFalse();
        assertThat(function.slots()).isEqualTo(1);
    }

    @Test
    void shouldRejectMoreRowsThanIntSlots() {
        long rows = (1L << 30) - 64;
        SlotFunction hashed = SlotFunction.of(rows, 16, 0, Long.MAX_VALUE);
        assertThat(hashed.slots() + rows + 1).isLessThanOrEqualTo(Integer.MAX_VALUE - 31);
        assertThatExceptionOfType(EngineUnavailableException.class)
                .isThrownBy(() -> SlotFunction.of(rows + 1, 16, 0, Long.MAX_VALUE))
                .withMessage("Too many rows for one table: rowCount=1073741761, max=1073741760")
                .satisfies(e -> assertThat(e.scope()).isEqualTo(Scope.NO_MEMORY));
    }
}
