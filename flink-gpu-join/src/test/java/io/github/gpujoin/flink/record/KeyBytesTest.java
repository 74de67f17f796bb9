// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.binary.BinaryStringData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyBytesTest {

    private static final String[] ALPHABETS = {
        "ab", "aé\u00ff", "a\u0100語", "\ud83d\ude00x", "\ud800\udc00"
    };

    private final KeyBytes bytes = new KeyBytes();

    private byte[] ofText(String text) {
        bytes.clear();
        bytes.writeText(text);
        return bytes.copy();
    }

    private byte[] ofRowText(StringData text) {
        bytes.clear();
        RowDataFields.writeText(text, bytes);
        return bytes.copy();
    }

    private static List<String> texts(long seed, int count) {
        Random random = new Random(seed);
        List<String> texts = new ArrayList<>(List.of("", "\0", "a", "\u00ff", "\u0100", "\ud800"));
        while (texts.size() < count) {
            String alphabet = ALPHABETS[random.nextInt(ALPHABETS.length)];
            StringBuilder text = new StringBuilder();
            int length = random.nextInt(20);
            for (int i = 0; i < length; i++) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            texts.add(text.toString());
        }
        return texts;
    }

    /** Each write may be the one for which the array grows. */
    @Test
    void shouldWriteTheSameBytesWhereverItGrows() {
        for (int length = 0; length < 600; length++) {
            KeyBytes grown = new KeyBytes();
            KeyBytes large = new KeyBytes();
            large.write(new byte[4096]);
            large.clear();
            for (KeyBytes key : List.of(grown, large)) {
                key.write(new byte[length]);
                key.writeBoolean(true);
                key.write(new byte[length]);
                key.writeInt(0x1234_5678);
                key.write(new byte[length]);
                key.writeLong(0x1234_5678_9ABC_DEF0L);
                key.write(new byte[length]);
                key.writeText("text");
            }
            assertThat(grown.copy()).as("length %s", length).isEqualTo(large.copy());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldWriteEqualBytesForEqualTextsOnly(long seed) {
        List<String> texts = texts(seed, 120);
        for (String a : texts) {
            for (String b : texts) {
                assertThat(Arrays.equals(ofText(a), ofText(new StringBuilder(b).toString())))
                        .as("%s, %s", a, b)
                        .isEqualTo(a.equals(b));
            }
        }
    }

    @Test
    void shouldNotWriteAPrefixOfAnotherText() {
        List<String> texts = texts(7, 120);
        for (String a : texts) {
            for (String b : texts) {
                byte[] first = ofText(a);
                byte[] second = ofText(b);
                if (!a.equals(b) && first.length <= second.length) {
                    assertThat(Arrays.copyOf(second, first.length)).isNotEqualTo(first);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldWriteTextsOfRowsAsStrings(long seed) {
        for (String text : texts(seed, 300)) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            String decoded = new String(utf8, StandardCharsets.UTF_8);
            byte[] padded = new byte[utf8.length + 3];
            System.arraycopy(utf8, 0, padded, 3, utf8.length);
            BinaryStringData inRow =
                    BinaryStringData.fromAddress(
                            new MemorySegment[] {MemorySegmentFactory.wrap(padded)},
                            3,
                            utf8.length);

            assertThat(ofRowText(inRow)).isEqualTo(ofText(decoded));
            assertThat(ofRowText(StringData.fromString(text))).isEqualTo(ofText(text));
        }
    }

    /** Savepoints hold these bytes and their hashes. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldWriteTextsAsEarlierVersionsDid(long seed) throws Exception {
        for (String text : texts(seed, 300)) {
            DataOutputSerializer earlier = new DataOutputSerializer(64);
            earlier.writeInt(text.length());
            earlier.writeChars(text);

            assertThat(ofText(text)).isEqualTo(earlier.getCopyOfBuffer());
        }
    }

    @Test
    void shouldReadTextsOfSeveralSegments() {
        String text = "customer-0000012";
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        BinaryStringData inRow =
                BinaryStringData.fromAddress(
                        new MemorySegment[] {
                            MemorySegmentFactory.wrap(Arrays.copyOf(utf8, 8)),
                            MemorySegmentFactory.wrap(Arrays.copyOfRange(utf8, 8, 16))
                        },
                        0,
                        utf8.length);

        assertThat(ofRowText(inRow)).isEqualTo(ofText(text));
    }
}
