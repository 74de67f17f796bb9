// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShortTextCacheTest {

    private final ShortTextCache texts = new ShortTextCache();

    private String read(byte[] utf8, int from, int length) {
        return texts.text(utf8, Memory.BYTES + from, length);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldDecodeEveryTextAsAStringDoes(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes = new byte[random.nextInt(ShortTextCache.MAX_BYTES + 1) + 2];
            int letters = 1 + random.nextInt(3);
            for (int b = 0; b < bytes.length; b++) {
                bytes[b] = (byte) ((random.nextInt(16) == 0 ? 0 : 'a') + random.nextInt(letters));
            }
            int length = bytes.length - 2;

            assertThat(read(bytes, 1, length))
                    .isEqualTo(new String(bytes, 1, length, StandardCharsets.UTF_8));
        }
    }

    @Test
    void shouldShareTheStringOfEqualTexts() {
        for (String text : new String[] {"", "a", "DE", "long", "BUILDING", "AUTOMOBILE", "語😀"}) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);

            String first = read(utf8, 0, utf8.length);

            assertThat(first).isEqualTo(text);
            assertThat(read(utf8.clone(), 0, utf8.length)).isSameAs(first);
        }
    }

    @Test
    void shouldTellTextsOfTheSameWordsApartByTheirLength() {
        byte[] letters = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".getBytes(StandardCharsets.UTF_8);
        for (int round = 0; round < 2; round++) {
            for (int length = 0; length <= ShortTextCache.MAX_BYTES; length++) {
                assertThat(read(letters, 0, length)).hasSize(length);
            }
        }
    }
}
