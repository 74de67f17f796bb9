// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VarintsTest {

    private static byte[] encode(long... numbers) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
        for (long number : numbers) {
            encoder.writeLong(number);
        }
        return bytes.toByteArray();
    }

    private static long[] numbers(Random random) {
        return random.longs(random.nextInt(12))
                .map(number -> number >> random.nextInt(Long.SIZE))
                .toArray();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadWhatAvroWrites(long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 0; i < 2000; i++) {
            long[] numbers = numbers(random);
            byte[] in = encode(numbers);
            int at = 0;
            for (long number : numbers) {
                long word = Varints.word(in, at, in.length);
                assertThat(Varints.value(word, in, at, in.length)).isEqualTo(number);
                at = Varints.next(word, in, at, in.length);
            }
            assertThat(at).isEqualTo(in.length);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldSkipAnyCountOfNumbers(long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 0; i < 2000; i++) {
            long[] numbers = numbers(random);
            byte[] in = encode(numbers);
            int count = random.nextInt(numbers.length + 1);
            int expected = encode(Arrays.copyOf(numbers, count)).length;
            assertThat(Varints.skip(in, 0, in.length, count)).isEqualTo(expected);
            int missing = numbers.length + 1;
            assertThatThrownBy(() -> Varints.skip(in, 0, in.length, missing))
                    .isInstanceOf(BadRecordException.class)
                    .hasMessageStartingWith("Value ends too early");
        }
    }

    @Test
    void shouldReadNoByteBehindTheEnd() throws IOException {
        byte[] in = encode(Long.MIN_VALUE, 300);
        for (int end = 0; end < 10; end++) {
            int length = end;
            assertThatThrownBy(() -> Varints.value(Varints.word(in, 0, length), in, 0, length))
                    .isInstanceOf(BadRecordException.class)
                    .hasMessageStartingWith("Value ends too early");
        }
        assertThat(Varints.value(Varints.word(in, 0, 10), in, 0, 10)).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void shouldRejectNumbersOfMoreThanTenBytes() {
        byte[] in = new byte[20];
        Arrays.fill(in, (byte) -1);
        assertThatThrownBy(() -> Varints.next(Varints.word(in, 0, 20), in, 0, 20))
                .hasMessage("Number has more than 10 bytes");
        assertThatThrownBy(() -> Varints.skip(in, 0, 20, 1))
                .hasMessage("Number has more than 10 bytes");
    }
}
