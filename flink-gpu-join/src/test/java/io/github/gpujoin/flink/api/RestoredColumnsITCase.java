// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.Consumer;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.formats.avro.typeutils.GenericRecordAvroTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Restores a savepoint by a job whose columns differ. Row {@code k} of the dimension has {@code a =
 * 10 k + 1} and {@code b = 10 k + 2}; each result is {@code "a|b"} of a fact's key, or {@code "b"}.
 */
class RestoredColumnsITCase extends RestoredJobs {

    /** Records that hold a key and two BIGINTs, with the order of the two in their type. */
    enum Format {
        ROW,
        ROW_DATA,
        AVRO
    }

    @ParameterizedTest(name = "{0} on {1}")
    @CsvSource({"ROW,hashmap", "ROW_DATA,rocksdb", "AVRO,hashmap"})
    void shouldRestoreFieldsOfRecordsByName(Format format, String backend) throws Exception {
        String savepoint = stop(backend, whole(format, List.of("key", "a", "b")));
        restore(savepoint, backend, whole(format, List.of("key", "b", "a")));
        assertThatResultsAre("%d|%d");
    }

    @ParameterizedTest
    @EnumSource(names = {"ROW", "ROW_DATA"})
    void shouldNameFieldThatSnapshotLacks(Format format) throws Exception {
        String savepoint = stop("hashmap", whole(format, List.of("key", "a")));
        assertThatThrownBy(
                        () ->
                                restore(
                                        savepoint,
                                        "hashmap",
                                        whole(format, List.of("key", "a", "b"))))
                .hasStackTraceContaining("Records of dimension 'build' cannot be restored")
                .hasStackTraceContaining("The snapshot has no field 'b'");
    }

    @Test
    void shouldRefuseTuplesOfOtherTypes() throws Exception {
        String savepoint =
                stop(
                        "hashmap",
                        whole(
                                Types.TUPLE(Types.LONG, Types.INT, Types.INT),
                                k -> Tuple3.of(k, (int) (10 * k + 1), (int) (10 * k + 2)),
                                t -> t.f0,
                                (t, n) -> t.f1 + "|" + t.f2));
        Job other =
                whole(
                        Types.TUPLE(Types.LONG, Types.LONG),
                        k -> Tuple2.of(k, 10 * k + 1),
                        t -> t.f0,
                        (t, n) -> t.f1 + "|");
        assertThatThrownBy(() -> restore(savepoint, "hashmap", other))
                .hasStackTraceContaining("Records of dimension 'build' cannot be restored")
                .hasStackTraceContaining("Java Tuple3<Long, Integer, Integer>")
                .hasStackTraceContaining("Java Tuple2<Long, Long>");
    }

    @ParameterizedTest(name = "partitioned={0}")
    @CsvSource({"true", "false"})
    void shouldRestoreReorderedAndFewerColumns(boolean partitioned) throws Exception {
        String savepoint = stop("rocksdb", selected(partitioned, "key", "a", "b"));
        restore(savepoint, "rocksdb", selected(partitioned, "key", "b", "a"));
        assertThatResultsAre("%d|%d");

        RESULTS.clear();
        restore(savepoint, "rocksdb", selected(partitioned, "key", "b"));
        assertThat(RESULTS).isNotEmpty().allMatch(result -> result.matches("\\d*2"));
    }

    @Test
    void shouldNameColumnThatSnapshotLacks() throws Exception {
        String savepoint = stop("hashmap", selected(true, "key", "a"));
        assertThatThrownBy(() -> restore(savepoint, "hashmap", selected(true, "key", "a", "b")))
                .hasStackTraceContaining("Column 'b' of dimension 'numbers' is not in the snapshot")
                .hasStackTraceContaining("Remove the column from the job");
    }

    @Test
    void shouldRestoreColumnThatLogHasAlready() throws Exception {
        String savepoint = stop("hashmap", selected(true, "key", "a"));
        restore(savepoint, "hashmap", selected(true, "key", "a", "key AS b"));
        assertThat(RESULTS).contains("11|1", "991|99");
    }

    @Test
    void shouldRefuseAnotherKey() throws Exception {
        String savepoint = stop("hashmap", selected(true, "key", "a", "b"));
        assertThatThrownBy(() -> restore(savepoint, "hashmap", selected(true, "a", "a", "b")))
                .hasStackTraceContaining(
                        "Dimension 'numbers' was joined on key = key (INNER) and now is on key = a"
                                + " (INNER)");
    }

    @Test
    void shouldRefuseAnotherEqualityOfNulls() throws Exception {
        String savepoint = stop("hashmap", texts(PairJoin.Keyed::nullSafe));
        assertThatThrownBy(() -> restore(savepoint, "hashmap", texts(join -> {})))
                .hasStackTraceContaining("$key[STRING] null-safe = $key[STRING] null-safe (INNER)")
                .hasStackTraceContaining("and now is on $key[STRING] = $key[STRING] (INNER)");
    }

    @Test
    void shouldRefuseAnotherKindOfJoinOfHashedKeys() throws Exception {
        String savepoint = stop("hashmap", texts(join -> {}));
        assertThatThrownBy(() -> restore(savepoint, "hashmap", texts(PairJoin.Keyed::semi)))
                .hasStackTraceContaining("$key[STRING] = $key[STRING] (INNER)")
                .hasStackTraceContaining("$key[STRING] = $key[STRING] (SEMI)");
    }

    private static Job texts(Consumer<PairJoin.Keyed<Row, Row>> more) {
        return (env, paced) -> {
            DataStream<Row> keys =
                    numbers(env, "numbers", KEYS)
                            .map(key -> Row.of(key))
                            .returns(Types.ROW_NAMED(new String[] {"key"}, Types.LONG));
            PairJoin.Keyed<Row, Row> join =
                    PairJoin.build(keys)
                            .probe(facts(env, paced))
                            .where(row -> row.getField(0).toString(), Types.STRING)
                            .equalTo(row -> row.getField(0).toString(), Types.STRING);
            more.accept(join);
            sink(join.uid("join").apply((build, probe) -> probe.toString(), Types.STRING));
        };
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseAnotherKeySelector(boolean replicated) throws Exception {
        String savepoint = stop("hashmap", pojos(replicated, numbers -> numbers.key));
        restore(savepoint, "hashmap", pojos(replicated, numbers -> numbers.a / 10));
        Job other = pojos(replicated, numbers -> numbers.a);
        assertThatThrownBy(() -> restore(savepoint, "hashmap", other))
                .hasStackTraceContaining("The key selector of the build side changed");
    }

    // ------------------------------------------------------------------ jobs

    private static Job whole(Format format, List<String> names) {
        return switch (format) {
            case ROW -> rows(names);
            case ROW_DATA -> rowData(names);
            case AVRO -> avro(names);
        };
    }

    private static long value(String name, long key) {
        return name.equals("key") ? key : 10 * key + (name.equals("a") ? 1 : 2);
    }

    private static Job rows(List<String> names) {
        TypeInformation<?>[] types =
                names.stream().map(name -> Types.LONG).toArray(TypeInformation<?>[]::new);
        int a = names.indexOf("a");
        int b = names.indexOf("b");
        return whole(
                Types.ROW_NAMED(names.toArray(String[]::new), types),
                k -> Row.of(names.stream().map(name -> value(name, k)).toArray()),
                row -> row.getFieldAs(0),
                (row, n) -> row.getField(a) + "|" + (b < 0 ? "" : row.getField(b)));
    }

    private static Job rowData(List<String> names) {
        LogicalType[] types =
                names.stream().map(name -> new BigIntType()).toArray(LogicalType[]::new);
        int a = names.indexOf("a");
        int b = names.indexOf("b");
        return whole(
                (TypeInformation<RowData>)
                        InternalTypeInfo.of(RowType.of(types, names.toArray(String[]::new))),
                k -> GenericRowData.of(names.stream().map(name -> value(name, k)).toArray()),
                row -> row.getLong(0),
                (row, n) -> row.getLong(a) + "|" + (b < 0 ? "" : row.getLong(b)));
    }

    private static Job avro(List<String> names) {
        SchemaBuilder.FieldAssembler<Schema> fields = SchemaBuilder.record("Numbers").fields();
        names.forEach(fields::requiredLong);
        String schema = fields.endRecord().toString();
        return whole(
                (TypeInformation<GenericRecord>)
                        new GenericRecordAvroTypeInfo(new Schema.Parser().parse(schema)),
                k -> {
                    GenericRecord made = new GenericData.Record(new Schema.Parser().parse(schema));
                    names.forEach(name -> made.put(name, value(name, k)));
                    return made;
                },
                made -> (Long) made.get("key"),
                (made, n) -> made.get("a") + "|" + made.get("b"));
    }

    /** A record of plain fields. */
    public static class Numbers {
        public long key;
        public long a;
        public long b;

        public Numbers() {}
    }

    private static Job pojos(boolean replicated, KeySelector<Numbers, Long> key) {
        return whole(
                replicated,
                Types.POJO(Numbers.class),
                k -> {
                    Numbers numbers = new Numbers();
                    numbers.key = k;
                    numbers.a = value("a", k);
                    numbers.b = value("b", k);
                    return numbers;
                },
                key,
                (numbers, fact) -> numbers.a + "|" + numbers.b);
    }

    /**
     * @param key of the dimension
     */
    private static Job selected(boolean partitioned, String key, String... columns) {
        return (env, paced) -> {
            DataStream<Row> numbers =
                    numbers(env, "numbers", KEYS)
                            .map(
                                    k -> Row.of(k, value("a", k), value("b", k)),
                                    Types.ROW_NAMED(
                                            new String[] {"key", "a", "b"},
                                            Types.LONG,
                                            Types.LONG,
                                            Types.LONG));
            StarJoin<Row> join =
                    StarJoin.of(facts(env, paced))
                            .dimension(
                                    numbers,
                                    d -> {
                                        d.named("numbers").on("key", key).select(columns);
                                        if (partitioned) {
                                            d.partitioned();
                                        }
                                    });
            int a = List.of(columns).indexOf("a");
            int b = columns.length - 1 - Math.max(a, 0);
            int last = List.of(columns).contains("b") ? List.of(columns).indexOf("b") : b;
            sink(
                    join.uid("join")
                            .toRows()
                            .map(
                                    row ->
                                            a < 0
                                                    ? row.getField(last).toString()
                                                    : row.getField(a) + "|" + row.getField(last))
                            .returns(Types.STRING));
        };
    }
}
