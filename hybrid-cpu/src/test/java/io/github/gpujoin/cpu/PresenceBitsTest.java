// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(RegionLeakExtension.class)
class PresenceBitsTest {

    @ParameterizedTest(name = "slots={0}")
    @ValueSource(ints = {1, 63, 64, 65, 1_000})
    void shouldReturnPreviousBit(int slots) {
        Random random = new Random(slots);
        BitSet expected = new BitSet();
        try (PresenceBits bits = PresenceBits.cleared(slots, Allocator.unlimited())) {
            assertThat(bits.lengthBytes()).isEqualTo((slots + 63) / 64 * 8);
            for (int i = 0; i < slots; i++) {
                int slot = random.nextInt(slots);
                long before = PresenceBits.set(bits.address(), slot);
                assertThat(before).isEqualTo(expected.get(slot) ? 1 : 0);
                expected.set(slot);
            }
            for (int slot = 0; slot < slots; slot++) {
                long bit = PresenceBits.get(bits.address(), slot);
                assertThat(bit).isEqualTo(expected.get(slot) ? 1 : 0);
            }
        }
    }
}
