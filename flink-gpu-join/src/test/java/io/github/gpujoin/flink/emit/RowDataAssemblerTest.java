// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.record.RecordLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DayTimeIntervalType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TimeType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.TinyIntType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.table.types.logical.YearMonthIntervalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Results as binary rows, compared with the rows that Flink makes of generic ones. */
class RowDataAssemblerTest {

    private static final List<LogicalType> TYPES =
            List.of(
                    new BigIntType(),
                    new IntType(),
                    new SmallIntType(),
                    new TinyIntType(),
                    new BooleanType(),
                    new FloatType(),
                    new DoubleType(),
                    new VarCharType(VarCharType.MAX_LENGTH),
                    new VarBinaryType(VarBinaryType.MAX_LENGTH),
                    new DecimalType(1, 0),
                    new DecimalType(18, 9),
                    new DecimalType(19, 9),
                    new DecimalType(38, 20),
                    new DateType(),
                    new TimeType(0),
                    new TimeType(3),
                    new TimestampType(0),
                    new TimestampType(3),
                    new TimestampType(6),
                    new TimestampType(9),
                    new LocalZonedTimestampType(0),
                    new LocalZonedTimestampType(3),
                    new LocalZonedTimestampType(6),
                    new LocalZonedTimestampType(9),
                    new DayTimeIntervalType(DayTimeIntervalType.DayTimeResolution.DAY),
                    new YearMonthIntervalType(YearMonthIntervalType.YearMonthResolution.MONTH),
                    new ArrayType(new VarCharType(VarCharType.MAX_LENGTH)),
                    new MapType(new IntType(), new DecimalType(20, 2)),
                    RowType.of(new IntType(), new VarCharType(VarCharType.MAX_LENGTH)));

    private static final List<String> TEXTS =
            List.of("", "a", "7 bytes", "8  bytes", "é", "語語", "😀😀😀", "long é語😀".repeat(90));

    private static final int KEYS = 40;

    private static RowType side(String prefix) {
        List<RowType.RowField> fields = new ArrayList<>();
        fields.add(new RowType.RowField(prefix + "key", new BigIntType(false)));
        for (int i = 0; i < TYPES.size(); i++) {
            fields.add(new RowType.RowField(prefix + i, TYPES.get(i)));
        }
        return new RowType(fields);
    }

    private static final RowType FACT = side("f");
    private static final RowType BUILD = side("b");

    private static RowData row(RowType type, long key, Random random) {
        GenericRowData row = new GenericRowData(type.getFieldCount());
        row.setField(0, key);
        for (int i = 1; i < type.getFieldCount(); i++) {
            row.setField(i, random.nextInt(5) == 0 ? null : value(type.getTypeAt(i), random));
        }
        return random.nextBoolean() ? row : new RowDataSerializer(type).toBinaryRow(row);
    }

    private static Object value(LogicalType type, Random random) {
        return switch (type.getTypeRoot()) {
            case BIGINT, INTERVAL_DAY_TIME -> random.nextLong();
            case INTEGER, INTERVAL_YEAR_MONTH -> random.nextInt();
            case SMALLINT -> (short) random.nextInt();
            case TINYINT -> (byte) random.nextInt();
            case BOOLEAN -> random.nextBoolean();
            case FLOAT -> -random.nextFloat();
            case DOUBLE -> -random.nextDouble();
            case VARCHAR -> text(random);
            case VARBINARY -> bytes(random);
            case DECIMAL -> decimal((DecimalType) type, random);
            case DATE -> random.nextInt(4_000_000) - 2_000_000;
            case TIME_WITHOUT_TIME_ZONE -> random.nextInt(86_400_000);
            case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                    timestamp(LogicalTypeChecks.getPrecision(type), random);
            case ARRAY -> new GenericArrayData(new Object[] {text(random), null, text(random)});
            case MAP -> new GenericMapData(Map.of(random.nextInt(), decimal(20, 2, random)));
            case ROW -> GenericRowData.of(random.nextInt(), text(random));
            default -> throw new IllegalStateException("Type without values: " + type);
        };
    }

    private static StringData text(Random random) {
        return StringData.fromString(TEXTS.get(random.nextInt(TEXTS.size())));
    }

    private static byte[] bytes(Random random) {
        byte[] bytes = new byte[random.nextInt(20)];
        random.nextBytes(bytes);
        return bytes;
    }

    private static DecimalData decimal(DecimalType type, Random random) {
        return decimal(type.getPrecision(), type.getScale(), random);
    }

    /** Of any number of digits, the largest and smallest included. */
    private static DecimalData decimal(int precision, int scale, Random random) {
        BigInteger limit = BigInteger.TEN.pow(random.nextInt(precision + 1));
        BigInteger unscaled =
                random.nextBoolean()
                        ? limit.subtract(BigInteger.ONE)
                        : new BigInteger(130, random).mod(limit);
        BigInteger signed = random.nextBoolean() ? unscaled.negate() : unscaled;
        return DecimalData.fromBigDecimal(new BigDecimal(signed, scale), precision, scale);
    }

    private static TimestampData timestamp(int precision, Random random) {
        long milliseconds = random.nextInt() * 1_000_003L;
        return switch (precision) {
            case 0 -> TimestampData.fromEpochMillis(Math.floorDiv(milliseconds, 1000) * 1000);
            case 3 -> TimestampData.fromEpochMillis(milliseconds);
            case 6 -> TimestampData.fromEpochMillis(milliseconds, random.nextInt(1000) * 1000);
            default -> TimestampData.fromEpochMillis(milliseconds, random.nextInt(1_000_000));
        };
    }

    /** Some fields of both sides in any order, and one that is no column. */
    private static RowType result(Random random) {
        List<RowType.RowField> fields = new ArrayList<>(FACT.getFields());
        BUILD.getFields()
                .forEach(
                        f -> fields.add(new RowType.RowField(f.getName(), f.getType().copy(true))));
        fields.add(new RowType.RowField("none", new VarCharType(9)));
        Collections.shuffle(fields, random);
        List<RowType.RowField> some = fields.subList(0, 1 + random.nextInt(fields.size()));
        return new RowType(some);
    }

    private static RecordLayout<RowData> layout(RowType type) {
        return RecordLayout.of(
                InternalTypeInfo.of(type),
                type.getFieldNames(),
                List.of(type.getFieldNames().get(0)),
                new SerializerConfigImpl());
    }

    private static List<RowData> joined(
            RowType result, List<RowData> facts, List<RowData> builds, Random random)
            throws Exception {
        RecordLayout<RowData> fact = layout(FACT);
        RecordLayout<RowData> build = layout(BUILD);
        JoinSpec spec =
                new JoinSpec(
                        fact.schema(),
                        List.of(new DimensionSpec("build", build.schema(), 0, 0, JoinKind.LEFT)));
        List<OutputField> fields = new ArrayList<>();
        for (String name : result.getFieldNames()) {
            if (FACT.getFieldNames().contains(name)) {
                fields.add(OutputField.ofFact(fact.schema().require(name), fact.field(name)));
            } else if (BUILD.getFieldNames().contains(name)) {
                fields.add(
                        OutputField.ofDimension(
                                0, build.schema().require(name), build.field(name)));
            }
        }
        Collections.shuffle(fields, random);
        return EmitterRun.values(
                EmitterRun.join(
                        spec,
                        List.of(EmitterRun.pack(build, builds, 0)),
                        EmitterRun.pack(fact, facts, -1),
                        ResultEmitters.records(
                                ResultColumns.of(spec, fields),
                                InternalTypeInfo.<RowData>of(result)),
                        random));
    }

    private static RowData expected(RowType result, RowData fact, RowData build) {
        GenericRowData row = new GenericRowData(result.getFieldCount());
        for (int i = 0; i < result.getFieldCount(); i++) {
            String name = result.getFieldNames().get(i);
            boolean ofFact = FACT.getFieldNames().contains(name);
            RowData side = ofFact ? fact : build;
            int index = (ofFact ? FACT : BUILD).getFieldIndex(name);
            if (side != null && index >= 0) {
                row.setField(
                        i,
                        RowData.createFieldGetter(result.getTypeAt(i), index).getFieldOrNull(side));
            }
        }
        return new RowDataSerializer(result).toBinaryRow(row).copy();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void shouldMakeTheBytesThatFlinkMakesOfGenericRows(long seed) throws Exception {
        Random random = new Random(seed);
        RowType result = result(random);
        List<RowData> builds = new ArrayList<>();
        Map<Long, RowData> byKey = new HashMap<>();
        for (long key = 0; key < KEYS; key += 2) {
            RowData build = row(BUILD, key, random);
            builds.add(build);
            byKey.put(key, build);
        }
        List<RowData> facts = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            facts.add(row(FACT, random.nextInt(KEYS), random));
        }

        List<RowData> rows = joined(result, facts, builds, random);

        assertThat(rows)
                .hasSameSizeAs(facts)
                .allSatisfy(row -> assertThat(row).isInstanceOf(BinaryRowData.class));
        for (int i = 0; i < rows.size(); i++) {
            RowData fact = facts.get(i);
            assertThat(rows.get(i))
                    .as("row %d", i)
                    .isEqualTo(expected(result, fact, byKey.get(fact.getLong(0))));
            assertThat(rows.get(i).getRowKind()).isEqualTo(RowKind.INSERT);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldMakeRowsThatFlinkWritesAndReads(long seed) throws Exception {
        Random random = new Random(seed);
        RowType result = side("f");
        InternalTypeInfo<RowData> type = InternalTypeInfo.of(result);
        List<RowData> facts = List.of(row(FACT, 1, random), row(FACT, 2, random));
        List<RowData> sent = new ArrayList<>();

        for (RowData row : joined(result, facts, List.of(), random)) {
            sent.add(ExactFieldsTest.sent(type, type.createSerializer(null).copy(row)));
        }

        assertThat(sent)
                .extracting(row -> values(result, row))
                .containsExactlyElementsOf(facts.stream().map(row -> values(result, row)).toList());
    }

    private static List<Object> values(RowType type, RowData row) {
        RowData binary = new RowDataSerializer(type).toBinaryRow(row);
        Object[] values = new Object[type.getFieldCount()];
        Arrays.setAll(
                values,
                i -> RowData.createFieldGetter(type.getTypeAt(i), i).getFieldOrNull(binary));
        return Arrays.stream(values)
                .map(value -> value instanceof byte[] bytes ? Arrays.toString(bytes) : value)
                .toList();
    }
}
