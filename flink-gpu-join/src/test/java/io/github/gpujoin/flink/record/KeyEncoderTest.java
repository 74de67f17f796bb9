// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.gpujoin.flink.pack.AllKinds;
import io.github.gpujoin.flink.record.KeyLayout.Form;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Keys of all types: which are equal, and what stands for them. */
class KeyEncoderTest {

    private static final TypeInformation<byte[]> BYTES =
            PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO;

    /** Values of each type; those within one list are equal as keys, those of two lists are not. */
    static Stream<Arguments> classesOfEqualValues() {
        return Stream.of(
                arguments(Types.BOOLEAN, List.of(List.of(true), List.of(false))),
                arguments(Types.CHAR, List.of(List.of('a'), List.of('\uFFFF'))),
                arguments(Types.BYTE, List.of(List.of((byte) -1), List.of((byte) 127))),
                arguments(Types.SHORT, List.of(List.of((short) -1), List.of(Short.MAX_VALUE))),
                arguments(Types.INT, List.of(List.of(-1), List.of(0), List.of(1 << 16))),
                arguments(Types.LONG, List.of(List.of(-1L), List.of(1L << 32), List.of(0L))),
                arguments(
                        Types.FLOAT,
                        List.of(
                                List.of(0.0f, -0.0f),
                                List.of(Float.NaN, Float.intBitsToFloat(0xFFC0_0001)),
                                List.of(Float.MIN_VALUE),
                                List.of(Float.NEGATIVE_INFINITY))),
                arguments(
                        Types.DOUBLE,
                        List.of(
                                List.of(0.0, -0.0),
                                List.of(
                                        Double.NaN,
                                        Double.longBitsToDouble(0xFFF8_0000_0000_0001L)),
                                List.of(Double.MIN_VALUE),
                                List.of(0.1f + 0.0))),
                arguments(
                        Types.BIG_DEC,
                        List.of(
                                List.of(new BigDecimal("1.0"), new BigDecimal("1.000")),
                                List.of(new BigDecimal("100"), new BigDecimal("1E+2")),
                                List.of(BigDecimal.ZERO, new BigDecimal("0.00")),
                                List.of(new BigDecimal("-" + "9".repeat(38))),
                                List.of(new BigDecimal("0." + "9".repeat(38))))),
                arguments(
                        Types.LOCAL_DATE,
                        List.of(
                                List.of(LocalDate.EPOCH),
                                List.of(LocalDate.MIN),
                                List.of(LocalDate.MAX),
                                List.of(LocalDate.of(1969, 12, 31)))),
                arguments(
                        Types.LOCAL_TIME, List.of(List.of(LocalTime.MIN), List.of(LocalTime.MAX))),
                arguments(
                        Types.LOCAL_DATE_TIME,
                        List.of(
                                List.of(LocalDateTime.of(1969, 12, 31, 23, 59, 59, 999_999_999)),
                                List.of(LocalDateTime.of(1970, 1, 1, 0, 0)),
                                List.of(LocalDateTime.of(1970, 1, 1, 0, 0, 0, 1)),
                                List.of(LocalDateTime.MIN))),
                arguments(
                        Types.STRING,
                        List.of(
                                List.of(""),
                                List.of("a", new String("a")),
                                List.of("\uD800"),
                                List.of("\uD801"),
                                List.of("a".repeat(1_000)))),
                arguments(
                        BYTES,
                        List.of(
                                List.of(new byte[0]),
                                List.of(new byte[] {1, 2}, new byte[] {1, 2}),
                                List.of(new byte[] {1, 2, 0}))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("classesOfEqualValues")
    void shouldTellEqualValuesFromOthers(TypeInformation<Object> type, List<List<Object>> classes)
            throws IOException {
        for (Nulls nulls : Nulls.values()) {
            KeyLayout<Object> layout = KeyLayout.of(type, nulls);
            KeyEncoder<Object> encoder = layout.encoder();
            for (int a = 0; a < classes.size(); a++) {
                for (int b = 0; b < classes.size(); b++) {
                    for (Object first : classes.get(a)) {
                        for (Object second : classes.get(b)) {
                            assertEqualIf(a == b, layout, encoder, first, second);
                        }
                    }
                }
            }
        }
    }

    private static void assertEqualIf(
            boolean equal, KeyLayout<Object> layout, KeyEncoder<Object> encoder, Object a, Object b)
            throws IOException {
        assertThat(encoder.isCanonical(b, encoder.canonical(a)))
                .as("%s: %s, %s", layout, a, b)
                .isEqualTo(equal);
        // hashes of so few values do not collide
        assertThat(encoder.encode(a).equals(encoder.encode(b)))
                .as("integers of %s: %s, %s", layout, a, b)
                .isEqualTo(equal);
    }

    @Test
    void shouldPackWhatFitsInto64BitsAndHashTheRest() {
        assertThat(form(Types.INT, Nulls.MATCH_NOTHING)).isEqualTo(Form.INTEGER);
        assertThat(form(Types.INT, Nulls.MATCH_NULLS)).isEqualTo(Form.PACKED);
        assertThat(form(Types.ROW(Types.INT), Nulls.MATCH_NOTHING)).isEqualTo(Form.PACKED);
        assertThat(form(Types.LONG, Nulls.MATCH_NULLS)).isEqualTo(Form.HASHED);
        assertThat(form(Types.DOUBLE, Nulls.MATCH_NOTHING)).isEqualTo(Form.PACKED);
        assertThat(form(Types.ROW(Types.INT, Types.INT), Nulls.MATCH_NOTHING))
                .isEqualTo(Form.PACKED);
        assertThat(form(Types.ROW(Types.INT, Types.INT), Nulls.MATCH_NULLS)).isEqualTo(Form.HASHED);
        assertThat(form(Types.TUPLE(Types.LONG, Types.BOOLEAN), Nulls.MATCH_NOTHING))
                .isEqualTo(Form.HASHED);
        assertThat(form(Types.STRING, Nulls.MATCH_NOTHING)).isEqualTo(Form.HASHED);
        assertThat(form(Types.LOCAL_DATE_TIME, Nulls.MATCH_NOTHING)).isEqualTo(Form.HASHED);
    }

    private static Form form(TypeInformation<?> type, Nulls nulls) {
        return KeyLayout.of(type, nulls).form();
    }

    /** Parts next to each other must not run into one another, in any form. */
    @ParameterizedTest
    @MethodSource("composites")
    void shouldTellCompositesApartByEachPart(TypeInformation<Row> type, long seed)
            throws IOException {
        Random random = new Random(seed);
        KeyEncoder<Row> sql = KeyLayout.of(type, Nulls.MATCH_NOTHING).encoder();
        KeyEncoder<Row> nullSafe = KeyLayout.of(type, Nulls.MATCH_NULLS).encoder();
        List<Row> keys = Stream.generate(() -> key(type, random)).limit(60).toList();
        for (Row a : keys) {
            for (Row b : keys) {
                boolean same = a.equals(b);
                boolean hasNull = hasNull(a);
                assertThat(sql.isCanonical(b, sql.canonical(a)))
                        .as("seed=%s, %s, %s", seed, a, b)
                        .isEqualTo(same && !hasNull);
                assertThat(nullSafe.isCanonical(b, nullSafe.canonical(a))).isEqualTo(same);
                assertThat(Objects.equals(nullSafe.encode(a), nullSafe.encode(b)))
                        .as("seed=%s, integers of %s, %s", seed, a, b)
                        .isEqualTo(same);
            }
            assertThat(sql.encode(a) == null).isEqualTo(hasNull(a));
        }
    }

    static Stream<Arguments> composites() {
        return Stream.of(
                arguments(Types.ROW(Types.INT, Types.INT), 1L),
                arguments(Types.ROW(Types.SHORT, Types.BOOLEAN, Types.BYTE), 2L),
                arguments(Types.ROW(Types.STRING, Types.STRING), 3L),
                arguments(Types.ROW(Types.STRING, Types.ROW(Types.INT, Types.STRING)), 4L),
                arguments(Types.ROW(Types.LONG, Types.STRING, Types.BOOLEAN), 5L));
    }

    private static boolean hasNull(Row row) {
        for (int i = 0; i < row.getArity(); i++) {
            Object value = row.getField(i);
            if (value == null || value instanceof Row inner && hasNull(inner)) {
                return true;
            }
        }
        return false;
    }

    private static Row key(TypeInformation<Row> type, Random random) {
        RecordShape<Row> shape = RecordShape.of(type);
        return Row.of(
                shape.names().stream()
                        .map(name -> value(shape.typeOf(name), random))
                        .toArray(Object[]::new));
    }

    @SuppressWarnings("unchecked")
    private static Object value(TypeInformation<?> type, Random random) {
        if (RecordShape.isRecord(type)) {
            return key((TypeInformation<Row>) type, random);
        }
        if (random.nextInt(4) == 0) {
            return null;
        }
        int small = random.nextInt(3) - 1;
        return switch (KeyPart.of(type).orElseThrow()) {
            case INT -> small;
            case LONG -> (long) small;
            case SHORT -> (short) small;
            case BYTE -> (byte) small;
            case BOOLEAN -> small > 0;
            case STRING -> "aa".substring(small + 1);
            default -> throw new IllegalArgumentException("type=" + type);
        };
    }

    @Test
    void shouldTakeARecordThatIsNullForOneOfNulls() throws IOException {
        TypeInformation<Tuple2<Integer, String>> type = Types.TUPLE(Types.INT, Types.STRING);
        KeyEncoder<Tuple2<Integer, String>> nullSafe =
                KeyLayout.of(type, Nulls.MATCH_NULLS).encoder();

        assertThat(nullSafe.isCanonical(Tuple2.of(null, null), nullSafe.canonical(null))).isTrue();
        assertThat(KeyLayout.of(type, Nulls.MATCH_NOTHING).encoder().encode(null)).isNull();
    }

    @Test
    void shouldReadPojosFieldByField() throws IOException {
        KeyEncoder<AllKinds.Point> encoder =
                KeyLayout.of(TypeInformation.of(AllKinds.Point.class), Nulls.MATCH_NOTHING)
                        .encoder();

        assertThat(encoder.encode(new AllKinds.Point(1, "a")))
                .isEqualTo(encoder.encode(new AllKinds.Point(1, "a")))
                .isNotEqualTo(encoder.encode(new AllKinds.Point(1, "b")));
    }

    @Test
    void shouldNotCompareKeysOfDifferentTypes() {
        KeyLayout<?> text = KeyLayout.of(Types.STRING, Nulls.MATCH_NOTHING);
        KeyLayout<?> integer = KeyLayout.of(Types.INT, Nulls.MATCH_NOTHING);

        assertThat(integer.isComparableTo(KeyLayout.of(Types.LONG, Nulls.MATCH_NOTHING))).isTrue();
        assertThat(integer.isComparableTo(text)).isFalse();
        assertThat(text.isComparableTo(KeyLayout.of(Types.STRING, Nulls.MATCH_NULLS))).isFalse();
        assertThatThrownBy(() -> KeyLayout.of(Types.MAP(Types.INT, Types.INT), Nulls.MATCH_NULLS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "Unsupported type in a join key: part=Map<Integer, Integer>");
    }

    @Test
    void shouldSpreadTextThatIsAlike() throws IOException {
        KeyEncoder<String> encoder = KeyLayout.of(Types.STRING, Nulls.MATCH_NOTHING).encoder();
        long[] hashes = new long[100_000];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = encoder.encode("customer-" + i).longValue();
        }

        assertThat(Arrays.stream(hashes).distinct().count()).isEqualTo(hashes.length);
        assertThat(Arrays.stream(hashes).filter(hash -> hash < 0).count())
                .isBetween(49_000L, 51_000L);
    }
}
