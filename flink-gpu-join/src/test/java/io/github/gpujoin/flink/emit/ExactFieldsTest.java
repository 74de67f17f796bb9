// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.RecordShape;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.Temporal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.formats.avro.typeutils.GenericRecordAvroTypeInfo;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.TimeType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.types.Row;
import org.apache.flink.util.InstantiationUtil;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Fields of RowData and of Avro records hold a column's values as they are, or the join says so.
 */
class ExactFieldsTest {

    private static final SerializerConfigImpl CONFIG = new SerializerConfigImpl();
    private static final TypeInformation<Row> FACT =
            Types.ROW_NAMED(new String[] {"key", "at"}, Types.LONG, Types.INSTANT);
    private static final RecordLayout<Row> FACTS =
            RecordLayout.of(FACT, List.of("key", "at"), List.of("key"), CONFIG).withTimestamp();

    private static final RowTypeInfo CUSTOMER =
            new RowTypeInfo(
                    new TypeInformation<?>[] {
                        Types.LONG,
                        Types.LOCAL_DATE,
                        Types.STRING,
                        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO,
                        Types.BIG_DEC
                    },
                    new String[] {"id", "since", "level", "code", "price"});

    private static final Row FULL =
            Row.of(
                    1L,
                    LocalDate.of(1969, 12, 30),
                    "HIGH",
                    new byte[] {9, 8, 7, 6},
                    new BigDecimal("-12.50"));
    private static final Row EMPTY = Row.of(2L, null, null, null, null);
    private static final Instant AT = Instant.ofEpochSecond(-7, 123_000_000);

    /** Facts of keys 1, 2 and 3, of which the last has no match in a left join. */
    private static <T> List<T> join(
            TypeInformation<T> type, JoinKind kind, List<Row> customers, Instant at)
            throws Exception {
        RecordLayout<Row> layout =
                RecordLayout.of(CUSTOMER, List.of(CUSTOMER.getFieldNames()), List.of("id"), CONFIG);
        JoinSpec spec =
                new JoinSpec(
                        FACTS.schema(),
                        List.of(new DimensionSpec("customer", layout.schema(), 0, 0, kind)));
        List<OutputField> fields = new ArrayList<>();
        for (String name : List.of("key", "at")) {
            fields.add(OutputField.ofFact(FACTS.schema().require(name), FACTS.field(name)));
        }
        for (String name : List.of("since", "level", "code", "price")) {
            fields.add(
                    OutputField.ofDimension(0, layout.schema().require(name), layout.field(name)));
        }
        ResultEmitterFactory<T> factory =
                ResultEmitters.records(ResultColumns.of(spec, fields), type);
        List<Row> facts = List.of(Row.of(1L, at), Row.of(2L, at), Row.of(3L, at));
        return EmitterRun.values(
                EmitterRun.join(
                        spec,
                        List.of(EmitterRun.pack(layout, customers, 0)),
                        EmitterRun.pack(FACTS, facts, -1),
                        InstantiationUtil.clone(factory),
                        new Random(1)));
    }

    /** What a record is after Flink has written and read it. */
    static <T> T sent(TypeInformation<T> type, T record) throws Exception {
        TypeSerializer<T> serializer = type.createSerializer(CONFIG);
        DataOutputSerializer out = new DataOutputSerializer(64);
        serializer.serialize(record, out);
        return serializer.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
    }

    private static <T> List<Object> fields(TypeInformation<T> type, T record, String... names) {
        RecordShape<T> shape = RecordShape.of(type);
        return Arrays.stream(names).map(name -> shape.getter(name).get(record)).toList();
    }

    private static <T extends GenericRecord> void assertVisits(TypeInformation<T> type)
            throws Exception {
        String[] names = {
            "key", "at", "since", "level", "code", "price", "grade", "opened", "mark"
        };
        List<Object> all = new ArrayList<>();
        for (T visit : join(type, JoinKind.LEFT, List.of(FULL, EMPTY), AT)) {
            all.add(fields(type, sent(type, visit), names));
        }
        byte[] mark = {1, 2, 3, 4};
        LocalDate opened = LocalDate.ofEpochDay(10);
        assertThat(all)
                .usingRecursiveFieldByFieldElementComparator()
                .containsExactlyInAnyOrder(
                        Arrays.asList(
                                1L,
                                AT,
                                FULL.getField(1),
                                "HIGH",
                                FULL.getField(3),
                                FULL.getField(4),
                                "HIGH",
                                opened,
                                mark),
                        Arrays.asList(2L, AT, null, null, null, null, "HIGH", opened, mark),
                        Arrays.asList(3L, AT, null, null, null, null, "HIGH", opened, mark));
    }

    @Test
    void shouldFillUnionsEnumsAndFixedsOfSpecificRecords() throws Exception {
        assertVisits(new AvroTypeInfo<>(Visit.class));
    }

    @Test
    void shouldFillUnionsEnumsAndFixedsOfGenericRecords() throws Exception {
        assertVisits(new GenericRecordAvroTypeInfo(Visit.SCHEMA$));
    }

    @Test
    void shouldRefuseWhatAvroFieldsCannotHold() {
        TypeInformation<Visit> type = new AvroTypeInfo<>(Visit.class);
        Row five = Row.of(1L, null, null, new byte[5], null);

        assertThatThrownBy(() -> join(type, JoinKind.LEFT, List.of(five), AT))
                .hasMessageStartingWith("Value of a wrong length for an Avro fixed field")
                .hasMessageContaining("lengthBytes=5, expectedBytes=");
        assertThatThrownBy(() -> join(type, JoinKind.LEFT, List.of(), AT.plusNanos(1_000)))
                .hasMessageStartingWith("Time is finer than the resolution of its Avro field")
                .hasMessageContaining("field=at, value=1969-12-31T23:59:53.123001Z");
    }

    // ------------------------------------------------------------------ RowData

    private static final TypeInformation<Row> VALUE =
            Types.ROW_NAMED(
                    new String[] {"key", "number", "time", "local", "instant"},
                    Types.LONG,
                    Types.BIG_DEC,
                    Types.LOCAL_TIME,
                    Types.LOCAL_DATE_TIME,
                    Types.INSTANT);
    private static final List<String> VALUE_FIELDS =
            List.of("key", "number", "time", "local", "instant");

    private static InternalTypeInfo<RowData> rows(LogicalType... types) {
        return InternalTypeInfo.ofFields(types, VALUE_FIELDS.toArray(String[]::new));
    }

    private static final InternalTypeInfo<RowData> NARROW =
            rows(
                    new BigIntType(false),
                    new DecimalType(5, 2),
                    new TimeType(9),
                    new TimestampType(3),
                    new LocalZonedTimestampType(3));

    /** A fact that meets the one row of a dimension without columns, as RowData. */
    private static RowData row(InternalTypeInfo<RowData> type, Object... values) throws Exception {
        RecordLayout<Row> facts = RecordLayout.of(VALUE, VALUE_FIELDS, List.of("key"), CONFIG);
        RecordLayout<Row> keys = RecordLayout.of(FACT, List.of("key"), List.of("key"), CONFIG);
        JoinSpec spec =
                new JoinSpec(
                        facts.schema(),
                        List.of(new DimensionSpec("k", keys.schema(), 0, 0, JoinKind.SEMI)));
        List<OutputField> fields =
                VALUE_FIELDS.stream()
                        .map(n -> OutputField.ofFact(facts.schema().require(n), facts.field(n)))
                        .toList();
        List<RowData> rows =
                EmitterRun.values(
                        EmitterRun.join(
                                spec,
                                List.of(EmitterRun.pack(keys, List.of(Row.of(1L, null)), 0)),
                                EmitterRun.pack(facts, List.of(Row.of(values)), -1),
                                ResultEmitters.records(ResultColumns.of(spec, fields), type),
                                new Random(1)));
        return sent(type, rows.get(0));
    }

    @Test
    void shouldKeepWhatFieldsOfRowDataHold() throws Exception {
        Object[] values = {
            1L,
            new BigDecimal("-123.450"),
            LocalTime.of(23, 59, 59, 999_000_000),
            LocalDateTime.of(1969, 12, 31, 23, 59, 59, 1_000_000),
            Instant.ofEpochSecond(-1, 999_000_000)
        };
        RowData row = row(NARROW, values);
        values[1] = new BigDecimal("-123.45");
        assertThat(fields(NARROW, row, VALUE_FIELDS.toArray(String[]::new)))
                .containsExactly(values);

        InternalTypeInfo<RowData> wide =
                rows(
                        new BigIntType(),
                        new DecimalType(38, 10),
                        new TimeType(),
                        new TimestampType(9),
                        new LocalZonedTimestampType(6));
        Object[] fine = {
            1L,
            new BigDecimal("1234567890123456789012345678.0123456789"),
            null,
            LocalDateTime.of(1, 1, 1, 1, 1, 1, 123_456_789),
            Instant.ofEpochSecond(-1, 999_999_000)
        };
        assertThat(fields(wide, row(wide, fine), VALUE_FIELDS.toArray(String[]::new)))
                .containsExactly(fine);
    }

    @Test
    void shouldRefuseWhatFieldsOfRowDataWouldChange() {
        assertRefused("number", new BigDecimal("1.005"), "DECIMAL(5, 2)");
        assertRefused("number", new BigDecimal("1000"), "DECIMAL(5, 2)");
        assertRefused("time", LocalTime.of(1, 2, 3, 1_000), "TIME(9)");
        assertRefused("local", LocalDateTime.of(2020, 1, 1, 0, 0, 0, 1), "TIMESTAMP(3)");
        assertRefused("instant", Instant.ofEpochSecond(1, 1_000_100), "TIMESTAMP_LTZ(3)");
    }

    private static void assertRefused(String field, Object value, String type) {
        assertRefused(
                () -> row(NARROW, valuesWith(field, value)),
                field,
                value,
                type,
                "Declare a wider type for the field.");
    }

    private static void assertRefused(
            ThrowingCallable join, String field, Object value, String type, String remedy) {
        assertThatThrownBy(join)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Value does not fit its field of RowData: field=%s, type=%s, value=%s.\n%s",
                        field, type, value, remedy);
    }

    private static Object[] valuesWith(String field, Object value) {
        Object[] values = new Object[VALUE_FIELDS.size()];
        values[0] = 1L;
        values[VALUE_FIELDS.indexOf(field)] = value;
        return values;
    }

    private static final String TOO_FAR =
            "Filter such values: no type of RowData holds a date or a time that far away.";

    static Stream<Temporal> timesThatNoRowDataHolds() {
        return Stream.of(
                LocalDateTime.MIN,
                LocalDateTime.MAX,
                localOfMilliseconds(Long.MIN_VALUE).minusNanos(1),
                localOfMilliseconds(Long.MAX_VALUE).plusNanos(1_000_000),
                Instant.MIN,
                Instant.MAX,
                Instant.ofEpochMilli(Long.MIN_VALUE).minusNanos(1),
                Instant.ofEpochMilli(Long.MAX_VALUE).plusNanos(1_000_000));
    }

    private static LocalDateTime localOfMilliseconds(long milliseconds) {
        return LocalDateTime.ofInstant(Instant.ofEpochMilli(milliseconds), ZoneOffset.UTC);
    }

    @ParameterizedTest
    @MethodSource("timesThatNoRowDataHolds")
    void shouldRefuseTimesThatNoRowDataHolds(Temporal time) {
        boolean isLocal = time instanceof LocalDateTime;
        String field = isLocal ? "local" : "instant";
        assertRefused(
                () -> row(NARROW, valuesWith(field, time)),
                field,
                time,
                isLocal ? "TIMESTAMP(3)" : "TIMESTAMP_LTZ(3)",
                TOO_FAR);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE})
    void shouldKeepTheFarthestTimes(long milliseconds) throws Exception {
        Object[] values = valuesWith("local", localOfMilliseconds(milliseconds));
        values[VALUE_FIELDS.indexOf("instant")] = Instant.ofEpochMilli(milliseconds);

        RowData row = row(NARROW, values);

        for (String field : List.of("local", "instant")) {
            assertThat(row.getTimestamp(VALUE_FIELDS.indexOf(field), 3).getMillisecond())
                    .as(field)
                    .isEqualTo(milliseconds);
        }
    }

    private static RowData since(LocalDate date) throws Exception {
        Row customer = Row.of(1L, date, null, null, null);
        return join(visits(new DateType(), new IntType()), JoinKind.INNER, List.of(customer), AT)
                .get(0);
    }

    @Test
    void shouldRefuseDatesThatNoRowDataHolds() throws Exception {
        LocalDate last = LocalDate.ofEpochDay(Integer.MAX_VALUE);
        LocalDate first = LocalDate.ofEpochDay(Integer.MIN_VALUE);
        assertThat(since(last).getInt(2)).isEqualTo(Integer.MAX_VALUE);
        assertThat(since(first).getInt(2)).isEqualTo(Integer.MIN_VALUE);
        for (LocalDate date :
                List.of(LocalDate.MIN, first.minusDays(1), last.plusDays(1), LocalDate.MAX)) {
            assertRefused(() -> since(date), "since", date, "DATE", TOO_FAR);
        }
    }

    @Test
    void shouldRefuseNullsOfRecordsForFieldsOfRowDataThatAreNotNull() {
        InternalTypeInfo<RowData> type =
                rows(
                        new BigIntType(false),
                        new DecimalType(false, 5, 2),
                        new TimeType(),
                        new TimestampType(),
                        new LocalZonedTimestampType());
        assertThatThrownBy(() -> row(type, 1L, null, null, null, null))
                .hasMessageEndingWith(
                        "field=number, type=DECIMAL(5, 2) NOT NULL, value=null.\n"
                                + "Declare a nullable type for the field.");
    }

    @Test
    void shouldRefuseNotNullFieldsOfRowDataThatMayBeLeftWithoutAValue() throws Exception {
        LogicalType since = new DateType(false);
        assertThat(join(visits(since, new IntType()), JoinKind.INNER, List.of(FULL), AT))
                .hasSize(1);
        assertThatThrownBy(
                        () -> join(visits(since, new IntType()), JoinKind.LEFT, List.of(FULL), AT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("facts without a match: field=since, type=DATE NOT NULL");
        assertThatThrownBy(
                        () ->
                                join(
                                        visits(since, new IntType(false)),
                                        JoinKind.INNER,
                                        List.of(FULL),
                                        AT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has no result column: field=more, type=INT NOT NULL");
    }

    private static InternalTypeInfo<RowData> visits(LogicalType since, LogicalType more) {
        return InternalTypeInfo.ofFields(
                new LogicalType[] {
                    new BigIntType(false),
                    new LocalZonedTimestampType(3),
                    since,
                    VarCharType.STRING_TYPE,
                    new VarBinaryType(4),
                    new DecimalType(9, 2),
                    more
                },
                new String[] {"key", "at", "since", "level", "code", "price", "more"});
    }
}
