// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class TextCacheTest {

    @Test
    void shouldHoldWhatWasPutUntilAnotherAddressNeedsTheSlot() {
        TextCache cache = new TextCache();
        long first = 64;
        long second = first + 64;
        while (cache.slot(second) != cache.slot(first)) {
            second += 64;
        }
        int slot = cache.slot(first);

        assertThat(cache.holds(slot, first)).isFalse();
        cache.put(slot, first, "first");
        assertThat(cache.holds(slot, first)).isTrue();
        assertThat(cache.holds(slot, second)).isFalse();
        assertThat(cache.text(slot)).isEqualTo("first");

        cache.put(slot, second, null);
        assertThat(cache.holds(slot, first)).isFalse();
        assertThat(cache.holds(slot, second)).isTrue();
        assertThat(cache.text(slot)).isNull();
    }

    @Test
    void shouldNotHoldLongTexts() {
        TextCache cache = new TextCache();
        int slot = cache.slot(64);
        String longest = "x".repeat(TextCache.MAX_LENGTH);

        assertThat(cache.put(slot, 64, longest)).isSameAs(longest);
        assertThat(cache.holds(slot, 64)).isTrue();
        cache.put(cache.slot(128), 128, longest + "x");
        assertThat(cache.holds(cache.slot(128), 128)).isFalse();
    }

    @Test
    void shouldSpreadAlignedAddressesOverItsSlots() {
        TextCache cache = new TextCache();

        assertThat(
                        LongStream.range(1, 4 * TextCache.ENTRIES)
                                .mapToInt(i -> cache.slot(64 * i))
                                .peek(slot -> assertThat(slot).isBetween(0, TextCache.ENTRIES - 1))
                                .distinct()
                                .count())
                .isGreaterThan(TextCache.ENTRIES * 9 / 10);
    }
}
