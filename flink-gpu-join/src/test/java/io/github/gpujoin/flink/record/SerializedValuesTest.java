// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.BigDecSerializer;
import org.apache.flink.api.common.typeutils.base.InstantSerializer;
import org.apache.flink.api.common.typeutils.base.LocalDateSerializer;
import org.apache.flink.api.common.typeutils.base.LocalDateTimeSerializer;
import org.apache.flink.api.common.typeutils.base.LocalTimeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SerializedValuesTest {

    private static <T> byte[] written(TypeSerializer<T> serializer, T value) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(32);
        serializer.serialize(value, out);
        return out.getCopyOfBuffer();
    }

    private final byte[] scratch = new byte[SerializedValues.MAX_BYTES];

    private byte[] scratch(int lengthBytes) {
        return Arrays.copyOf(scratch, lengthBytes);
    }

    @Test
    void shouldReadAndWriteDatesAndTimes() throws IOException {
        for (LocalDate date : List.of(LocalDate.MIN, LocalDate.EPOCH, LocalDate.MAX)) {
            for (LocalTime time : List.of(LocalTime.MIN, LocalTime.NOON, LocalTime.MAX)) {
                byte[] both =
                        written(LocalDateTimeSerializer.INSTANCE, LocalDateTime.of(date, time));
                assertThat(SerializedValues.epochDay(both, Memory.BYTES))
                        .isEqualTo(date.toEpochDay());
                assertThat(SerializedValues.nanoOfDayOfDateTime(both, Memory.BYTES))
                        .isEqualTo(time.toNanoOfDay());
                byte[] one = written(LocalTimeSerializer.INSTANCE, time);
                assertThat(SerializedValues.nanoOfDay(one, Memory.BYTES))
                        .isEqualTo(time.toNanoOfDay());
                long nanos = time.toNanoOfDay();
                assertThat(scratch(SerializedValues.writeTime(scratch, nanos))).isEqualTo(one);
                long days = date.toEpochDay();
                assertThat(scratch(SerializedValues.writeDateTime(scratch, days, nanos)))
                        .isEqualTo(both);
            }
            byte[] one = written(LocalDateSerializer.INSTANCE, date);
            assertThat(SerializedValues.epochDay(one, Memory.BYTES)).isEqualTo(date.toEpochDay());
            assertThat(scratch(SerializedValues.writeDate(scratch, date.toEpochDay())))
                    .isEqualTo(one);
        }
        for (Instant instant : List.of(Instant.MIN, Instant.ofEpochSecond(-1, 1), Instant.MAX)) {
            byte[] bytes = written(InstantSerializer.INSTANCE, instant);
            assertThat(SerializedValues.epochSecond(bytes, Memory.BYTES))
                    .isEqualTo(instant.getEpochSecond());
            assertThat(SerializedValues.nanoOfSecond(bytes, Memory.BYTES))
                    .isEqualTo(instant.getNano());
            long seconds = instant.getEpochSecond();
            assertThat(scratch(SerializedValues.writeInstant(scratch, seconds, instant.getNano())))
                    .isEqualTo(bytes);
        }
    }

    @Test
    void shouldReadTheDecimalsThatFlinkWritesInShort() throws IOException {
        for (int value : new int[] {0, 1, 10}) {
            byte[] bytes = written(BigDecSerializer.INSTANCE, BigDecimal.valueOf(value));
            assertThat(SerializedValues.unscaled(bytes, Memory.BYTES, 18, 2))
                    .isEqualTo(100L * value);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldWriteDecimals(long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 0; i < 1000; i++) {
            long unscaled = i < 300 ? i - 150 : random.nextLong() >> random.nextInt(Long.SIZE);
            int scale = random.nextInt(19);

            int lengthBytes = SerializedValues.writeDecimal(scratch, unscaled, scale);

            assertThat(scratch(lengthBytes))
                    .isEqualTo(
                            written(
                                    BigDecSerializer.INSTANCE,
                                    BigDecimal.valueOf(unscaled, scale)));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadDecimalsOrSayThatTheyDoNotFit(long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            BigInteger digits =
                    new BigInteger(1 + random.nextInt(72), random)
                            .multiply(BigInteger.TEN.pow(random.nextInt(3)));
            BigDecimal value = new BigDecimal(digits, random.nextInt(30) - 10);
            value = random.nextBoolean() ? value : value.negate();
            int precision = 1 + random.nextInt(18);
            int scale = random.nextInt(precision + 1);

            long unscaled =
                    SerializedValues.unscaled(
                            written(BigDecSerializer.INSTANCE, value),
                            Memory.BYTES,
                            precision,
                            scale);

            assertThat(unscaled)
                    .as("%s as DECIMAL(%d, %d)", value, precision, scale)
                    .isEqualTo(expected(value, precision, scale));
        }
    }

    /** Does not fit: other digits, or more bytes or zeros than are read without an object. */
    private static long expected(BigDecimal value, int precision, int scale) {
        BigDecimal scaled = value.setScale(scale, RoundingMode.DOWN);
        boolean fits =
                scaled.compareTo(value) == 0
                        && scaled.precision() <= precision
                        && value.unscaledValue().bitLength() < Long.SIZE
                        && Math.abs(scale - value.scale()) <= 18;
        return fits ? scaled.unscaledValue().longValue() : Long.MIN_VALUE;
    }
}
