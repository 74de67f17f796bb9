// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Joins by keys of all types, as nested loops with the type's own comparison do. */
class KeyTypesITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    /** Types of keys and their values, of which there are few, so that many are equal. */
    enum KeyType {
        BOOLEAN(Types.BOOLEAN),
        INT(Types.INT),
        DOUBLE(Types.DOUBLE),
        DATE(Types.LOCAL_DATE),
        TIMESTAMP(Types.LOCAL_DATE_TIME),
        INSTANT(Types.INSTANT),
        DECIMAL(Types.BIG_DEC),
        STRING(Types.STRING),
        BYTES(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO),
        TWO_INTS(Types.ROW(Types.INT, Types.INT)),
        MIXED(Types.ROW(Types.STRING, Types.LOCAL_DATE, Types.BIG_DEC)),
        BYTE(Types.BYTE),
        SHORT(Types.SHORT);

        private final TypeInformation<?> type;

        KeyType(TypeInformation<?> type) {
            this.type = type;
        }

        TypeInformation<?> type() {
            return type;
        }

        Object value(int n) {
            return switch (this) {
                case BOOLEAN -> n % 2 == 0;
                case INT -> n;
                case BYTE -> (byte) (n - 12);
                case SHORT -> (short) (n * 2_700 - 32_000);
                case DOUBLE -> n == 0 ? Double.NaN : n == 1 ? -0.0 : n == 2 ? 0.0 : n / 4.0;
                case DATE -> LocalDate.ofEpochDay(n - 10);
                case TIMESTAMP -> LocalDateTime.of(2024, 2, 29, 0, 0, 0, n);
                case INSTANT -> Instant.ofEpochSecond(-5, n);
                case DECIMAL ->
                        new BigDecimal("9".repeat(37 - n / 2 % 3) + n / 2)
                                .setScale(n % 2 == 0 ? 0 : 1);
                case STRING -> "k".repeat(n);
                case BYTES -> new byte[n];
                case TWO_INTS -> Row.of(n % 3, n / 3);
                case MIXED ->
                        Row.of(
                                n % 7 == 0 ? null : "k" + n % 3,
                                LocalDate.ofEpochDay(n % 2),
                                BigDecimal.valueOf(n / 4));
            };
        }

        static boolean isNull(Object key) {
            return key == null
                    || key instanceof Row row
                            && (row.getField(0) == null || row.getField(1) == null);
        }

        /** By the types' own comparisons, not those of the join. */
        boolean areEqual(Object a, Object b) {
            if (a == null || b == null) {
                return a == b;
            }
            return switch (this) {
                case DOUBLE -> (double) a == (double) b || (double) a != (double) a && b.equals(a);
                case DECIMAL -> ((BigDecimal) a).compareTo((BigDecimal) b) == 0;
                case BYTES -> Arrays.equals((byte[]) a, (byte[]) b);
                default -> a.equals(b);
            };
        }
    }

    private record Keyed(Object key, int number) {}

    private static List<Keyed> records(KeyType type, Random random, int count) {
        List<Keyed> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Object key = random.nextInt(10) == 0 ? null : type.value(random.nextInt(24));
            records.add(new Keyed(key, i));
        }
        return records;
    }

    @ParameterizedTest(name = "{0} nullSafe={1} outer={2} replicated={3} engine={4}")
    @CsvSource({
        "BOOLEAN, false, false, false, cpu",
        "INT, true, true, false, cpu",
        "BYTE, false, true, false, cpu",
        "SHORT, true, false, true, cpu",
        "DOUBLE, false, true, false, cpu",
        "DATE, false, false, true, cpu",
        "TIMESTAMP, false, true, false, gpu",
        "INSTANT, true, false, true, cpu",
        "DECIMAL, false, true, false, cpu",
        "STRING, false, true, false, reference",
        "STRING, true, false, true, cpu",
        "BYTES, false, true, false, cpu",
        "TWO_INTS, false, false, false, cpu",
        "TWO_INTS, true, true, false, cpu",
        "MIXED, false, true, false, cpu",
        "MIXED, true, false, true, gpu"
    })
    void shouldJoinAsNestedLoopsDo(
            KeyType type, boolean nullSafe, boolean outer, boolean replicated, String engine)
            throws Exception {
        Random random = new Random(31L * type.ordinal() + (nullSafe ? 1 : 0));
        List<Keyed> builds = records(type, random, 60);
        List<Keyed> probes = records(type, random, 90);
        Configuration config = new Configuration();
        config.setString(GpuJoinOptions.ENGINE.key(), engine);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(2);
        PairJoin.Keyed<Row, Row> join = keyed(env, type, builds, probes);
        if (nullSafe) {
            join.nullSafe();
        }
        if (outer) {
            join.full();
        }
        if (replicated) {
            join.replicated();
        }
        List<String> actual = new ArrayList<>();
        try (CloseableIterator<String> rows =
                join.apply((JoinFunction<Row, Row, String>) KeyTypesITCase::text, Types.STRING)
                        .executeAndCollect()) {
            rows.forEachRemaining(actual::add);
        }

        assertThat(actual)
                .containsExactlyInAnyOrderElementsOf(
                        expected(type, nullSafe, outer, builds, probes));
    }

    @SuppressWarnings("unchecked")
    private static PairJoin.Keyed<Row, Row> keyed(
            StreamExecutionEnvironment env, KeyType type, List<Keyed> builds, List<Keyed> probes) {
        TypeInformation<Object> keyType = (TypeInformation<Object>) type.type;
        return PairJoin.build(stream(env, type, builds))
                .probe(stream(env, type, probes))
                .where(b -> b.getField(0), keyType)
                .equalTo(p -> p.getField(0), keyType);
    }

    private static DataStream<Row> stream(
            StreamExecutionEnvironment env, KeyType type, List<Keyed> records) {
        return env.fromData(
                records.stream().map(record -> Row.of(record.key, record.number)).toList(),
                Types.ROW(type.type, Types.INT));
    }

    private static String text(Row build, Row probe) {
        return (build == null ? "-" : build.getField(1))
                + " "
                + (probe == null ? "-" : probe.getField(1));
    }

    private static List<String> expected(
            KeyType type, boolean nullSafe, boolean outer, List<Keyed> builds, List<Keyed> probes) {
        List<String> results = new ArrayList<>();
        Set<Keyed> matched = new HashSet<>();
        for (Keyed p : probes) {
            boolean found = false;
            for (Keyed b : builds) {
                boolean comparable = nullSafe || !KeyType.isNull(p.key) && !KeyType.isNull(b.key);
                if (comparable && type.areEqual(b.key, p.key)) {
                    results.add(b.number + " " + p.number);
                    matched.add(b);
                    found = true;
                }
            }
            if (outer && !found) {
                results.add("- " + p.number);
            }
        }
        if (outer) {
            builds.stream()
                    .filter(b -> !matched.contains(b))
                    .forEach(b -> results.add(b.number + " -"));
        }
        return results;
    }

    @Test
    void shouldRefuseKeysOfDifferentTypes() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<Row> stream =
                env.fromData(List.of(Row.of(1, 2)), Types.ROW(Types.INT, Types.INT));

        assertThatThrownBy(
                        () ->
                                PairJoin.build(stream)
                                        .probe(stream)
                                        .where(r -> r, Types.ROW(Types.INT, Types.INT))
                                        .equalTo(r -> r, Types.ROW(Types.INT, Types.STRING)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Key types differ: build side Row(");
    }

    @Test
    @SuppressWarnings("unchecked")
    void shouldCompareIntegersOfTwoWidthsWhereNullsMatchToo() throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<Integer> stream = env.fromData(1, -2);
        TypeInformation<?> ints = Types.INT;
        TypeInformation<?> longs = Types.LONG;
        List<String> pairs = new ArrayList<>();
        try (CloseableIterator<String> rows =
                PairJoin.build(stream)
                        .probe(stream)
                        .where(n -> n, (TypeInformation<Number>) ints)
                        .equalTo(n -> n.longValue(), (TypeInformation<Number>) longs)
                        .nullSafe()
                        .apply((b, p) -> b + " " + p, Types.STRING)
                        .executeAndCollect()) {
            rows.forEachRemaining(pairs::add);
        }
        assertThat(pairs).containsExactlyInAnyOrder("1 1", "-2 -2");
    }
}
