// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.data.utils.JoinedRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JoinedTableRowsTest {

    private static final List<LogicalType> TYPES =
            List.of(
                    new BigIntType(),
                    new IntType(),
                    new SmallIntType(),
                    new BooleanType(),
                    new DoubleType(),
                    new VarCharType(VarCharType.MAX_LENGTH),
                    new VarBinaryType(VarBinaryType.MAX_LENGTH),
                    new DecimalType(10, 2),
                    new DecimalType(30, 2),
                    new TimestampType(3),
                    new TimestampType(9),
                    new ArrayType(new IntType()));

    private static RowType rowType(Random random) {
        LogicalType[] types =
                IntStream.range(0, 1 + random.nextInt(70))
                        .mapToObj(i -> TYPES.get(random.nextInt(TYPES.size())))
                        .toArray(LogicalType[]::new);
        return RowType.of(types);
    }

    private static RowData row(RowType type, Random random) {
        GenericRowData row = new GenericRowData(type.getFieldCount());
        for (int i = 0; i < type.getFieldCount(); i++) {
            row.setField(i, random.nextInt(4) == 0 ? null : value(type.getTypeAt(i), random));
        }
        return row;
    }

    private static Object value(LogicalType type, Random random) {
        return switch (type.getTypeRoot()) {
            case BIGINT -> random.nextLong();
            case INTEGER -> random.nextInt();
            case SMALLINT -> (short) random.nextInt();
            case BOOLEAN -> random.nextBoolean();
            case DOUBLE -> -random.nextDouble();
            case VARCHAR -> StringData.fromString("é語".repeat(random.nextInt(6)));
            case VARBINARY -> bytes(random);
            case DECIMAL -> decimal((DecimalType) type, random);
            case TIMESTAMP_WITHOUT_TIME_ZONE ->
                    TimestampData.fromEpochMillis(
                            random.nextInt(),
                            ((TimestampType) type).getPrecision() == 9 ? random.nextInt(999) : 0);
            default -> new GenericArrayData(random.ints(random.nextInt(5)).toArray());
        };
    }

    private static byte[] bytes(Random random) {
        byte[] bytes = new byte[random.nextInt(12)];
        random.nextBytes(bytes);
        return bytes;
    }

    private static DecimalData decimal(DecimalType type, Random random) {
        BigDecimal value = BigDecimal.valueOf(random.nextInt(), 2);
        return DecimalData.fromBigDecimal(value, type.getPrecision(), type.getScale());
    }

    private static RowType joined(RowType probe, RowType build) {
        LogicalType[] types =
                IntStream.range(0, probe.getFieldCount() + build.getFieldCount())
                        .mapToObj(
                                i ->
                                        i < probe.getFieldCount()
                                                ? probe.getTypeAt(i)
                                                : build.getTypeAt(i - probe.getFieldCount()))
                        .toArray(LogicalType[]::new);
        return RowType.of(types);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldJoinBinaryRowsToWhatTheirFieldsAre(long seed) {
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            RowType probeType = rowType(random);
            RowType buildType = rowType(random);
            RowDataSerializer probeRows = new RowDataSerializer(probeType);
            RowDataSerializer buildRows = new RowDataSerializer(buildType);
            RowDataSerializer results = new RowDataSerializer(joined(probeType, buildType));
            RowData probe = row(probeType, random);
            RowData build = row(buildType, random);
            BinaryRowData expected = results.toBinaryRow(new JoinedRowData(probe, build)).copy();

            RowData row =
                    new JoinedTableRows(buildType, probeType)
                            .join(
                                    buildRows.toBinaryRow(build).copy(),
                                    probeRows.toBinaryRow(probe).copy());

            assertThat(row).isInstanceOf(BinaryRowData.class);
            // Field by field: the values of variable length may have another order of padding.
            assertThat(fields(row, joined(probeType, buildType)))
                    .isEqualTo(fields(expected, joined(probeType, buildType)));
        }
    }

    private static List<Object> fields(RowData row, RowType type) {
        return IntStream.range(0, type.getFieldCount())
                .mapToObj(
                        i -> {
                            Object value =
                                    RowData.createFieldGetter(type.getTypeAt(i), i)
                                            .getFieldOrNull(row);
                            return value instanceof byte[] bytes
                                    ? List.of(java.util.HexFormat.of().formatHex(bytes))
                                    : String.valueOf(value)
                                            + (value == null ? "" : value.hashCode());
                        })
                .map(Object.class::cast)
                .toList();
    }

    @Test
    void shouldFillMissingRowsWithNulls() {
        RowType probe = RowType.of(new IntType());
        RowType build = RowType.of(new IntType(), new VarCharType(9));
        JoinedTableRows rows = new JoinedTableRows(build, probe);

        RowData row = rows.join(null, GenericRowData.of(7));

        assertThat(row.getArity()).isEqualTo(3);
        assertThat(row.getInt(0)).isEqualTo(7);
        assertThat(row.isNullAt(1)).isTrue();
        assertThat(row.isNullAt(2)).isTrue();
    }
}
