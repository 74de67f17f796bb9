// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.ColumnsKey;
import io.github.gpujoin.flink.record.KeyColumn;
import io.github.gpujoin.flink.record.KeyLayout;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.RowDataFields;
import io.github.gpujoin.flink.record.SelectedKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.columnar.ColumnarRowData;
import org.apache.flink.table.data.columnar.vector.ColumnVector;
import org.apache.flink.table.data.columnar.vector.VectorizedColumnBatch;
import org.apache.flink.table.data.columnar.vector.heap.AbstractHeapVector;
import org.apache.flink.table.data.columnar.vector.heap.HeapBooleanVector;
import org.apache.flink.table.data.columnar.vector.heap.HeapByteVector;
import org.apache.flink.table.data.columnar.vector.heap.HeapBytesVector;
import org.apache.flink.table.data.columnar.vector.heap.HeapDoubleVector;
import org.apache.flink.table.data.columnar.vector.heap.HeapFloatVector;
import org.apache.flink.table.data.columnar.vector.heap.HeapIntVector;
import org.apache.flink.table.data.columnar.vector.heap.HeapLongVector;
import org.apache.flink.table.data.columnar.vector.heap.HeapShortVector;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TinyIntType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.types.Row;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A packer of rows of SQL in each form that Flink has them in. */
class RowDataPackTest {

    private static final RowType TYPE =
            RowType.of(
                    new LogicalType[] {
                        new BigIntType(),
                        new IntType(),
                        new SmallIntType(),
                        new TinyIntType(),
                        new BooleanType(),
                        new FloatType(),
                        new DoubleType(),
                        new VarCharType(VarCharType.MAX_LENGTH),
                        new VarBinaryType(VarBinaryType.MAX_LENGTH),
                        new DateType()
                    },
                    new String[] {
                        "big", "number", "small", "tiny", "flag", "ratio", "value", "text", "bytes",
                        "day"
                    });

    private static final RowTypeInfo ROW =
            new RowTypeInfo(
                    TYPE.getChildren().stream()
                            .map(RowDataFields::typeOf)
                            .toArray(TypeInformation[]::new),
                    TYPE.getFieldNames().toArray(String[]::new));

    /** How a stream holds its rows. */
    enum Form {
        GENERIC,
        /** One object, which is pointed to each row. */
        REUSED_BINARY,
        /** One object, which is moved over the vectors of a reader. */
        COLUMNAR
    }

    private static Object value(LogicalType type, Random random) {
        if (random.nextInt(6) == 0) {
            return null;
        }
        return switch (type.getTypeRoot()) {
            case BIGINT -> random.nextLong();
            case INTEGER -> random.nextInt();
            case SMALLINT -> (short) random.nextInt();
            case TINYINT -> (byte) random.nextInt();
            case BOOLEAN -> random.nextBoolean();
            case FLOAT -> random.nextFloat();
            case DOUBLE -> random.nextDouble();
            case DATE -> random.nextInt(100_000);
            case VARBINARY -> bytes(random);
            default -> text(random).getBytes(StandardCharsets.UTF_8);
        };
    }

    private static byte[] bytes(Random random) {
        byte[] bytes = new byte[random.nextInt(12)];
        random.nextBytes(bytes);
        return bytes;
    }

    private static String text(Random random) {
        return switch (random.nextInt(5)) {
            case 0 -> "";
            case 1 -> "short";
            case 2 -> "a text of more than eight bytes " + random.nextInt(10);
            case 3 -> "\u00e9\u8a9e\ud83d\ude00";
            default -> "long".repeat(100 + random.nextInt(100));
        };
    }

    /** Values by row and field, texts as UTF-8. */
    private static Object[][] values(long seed, int rows) {
        Random random = new Random(seed);
        Object[][] values = new Object[rows][];
        for (int row = 0; row < rows; row++) {
            values[row] = TYPE.getChildren().stream().map(type -> value(type, random)).toArray();
        }
        return values;
    }

    private static GenericRowData generic(Object[] values) {
        GenericRowData row = new GenericRowData(values.length);
        for (int i = 0; i < values.length; i++) {
            boolean isText = TYPE.getTypeAt(i) instanceof VarCharType && values[i] != null;
            row.setField(i, isText ? StringData.fromBytes((byte[]) values[i]) : values[i]);
        }
        return row;
    }

    private static Row external(Object[] values) {
        GenericRowData internal = generic(values);
        Row row = new Row(values.length);
        for (int i = 0; i < values.length; i++) {
            RowData.FieldGetter field = RowData.createFieldGetter(TYPE.getTypeAt(i), i);
            row.setField(
                    i,
                    RowDataFields.converter(TYPE.getTypeAt(i))
                            .toExternalOrNull(field.getFieldOrNull(internal)));
        }
        return row;
    }

    private static ColumnVector vector(int field, Object[][] values) {
        LogicalType type = TYPE.getTypeAt(field);
        int rows = values.length;
        AbstractHeapVector vector =
                switch (type.getTypeRoot()) {
                    case BIGINT -> new HeapLongVector(rows);
                    case INTEGER, DATE -> new HeapIntVector(rows);
                    case SMALLINT -> new HeapShortVector(rows);
                    case TINYINT -> new HeapByteVector(rows);
                    case BOOLEAN -> new HeapBooleanVector(rows);
                    case FLOAT -> new HeapFloatVector(rows);
                    case DOUBLE -> new HeapDoubleVector(rows);
                    default -> new HeapBytesVector(rows);
                };
        for (int row = 0; row < rows; row++) {
            Object value = values[row][field];
            if (value == null) {
                vector.setNullAt(row);
            } else {
                set(vector, row, value);
            }
        }
        return vector;
    }

    private static void set(AbstractHeapVector vector, int row, Object value) {
        if (vector instanceof HeapLongVector longs) {
            longs.vector[row] = (Long) value;
        } else if (vector instanceof HeapIntVector ints) {
            ints.vector[row] = (Integer) value;
        } else if (vector instanceof HeapShortVector shorts) {
            shorts.vector[row] = (Short) value;
        } else if (vector instanceof HeapByteVector bytes) {
            bytes.vector[row] = (Byte) value;
        } else if (vector instanceof HeapBooleanVector flags) {
            flags.vector[row] = (Boolean) value;
        } else if (vector instanceof HeapFloatVector floats) {
            floats.vector[row] = (Float) value;
        } else if (vector instanceof HeapDoubleVector doubles) {
            doubles.vector[row] = (Double) value;
        } else {
            byte[] bytes = (byte[]) value;
            ((HeapBytesVector) vector).appendBytes(row, bytes, 0, bytes.length);
        }
    }

    private static Stream<RowData> rows(Form form, Object[][] values) {
        switch (form) {
            case GENERIC -> {
                return Arrays.stream(values).map(RowDataPackTest::generic);
            }
            case REUSED_BINARY -> {
                RowDataSerializer serializer = new RowDataSerializer(TYPE);
                return Arrays.stream(values).map(row -> serializer.toBinaryRow(generic(row)));
            }
            default -> {
                ColumnVector[] vectors = new ColumnVector[TYPE.getFieldCount()];
                Arrays.setAll(vectors, field -> vector(field, values));
                ColumnarRowData row = new ColumnarRowData(new VectorizedColumnBatch(vectors));
                return IntStream.range(0, values.length)
                        .mapToObj(
                                id -> {
                                    row.setRowId(id);
                                    return row;
                                });
            }
        }
    }

    private static <T> RecordLayout<T> layout(
            TypeInformation<T> type, boolean keepsNullKeys, boolean hasTextKey) {
        RecordLayout<T> layout =
                RecordLayout.of(
                        type,
                        TYPE.getFieldNames(),
                        hasTextKey ? List.of() : List.of("big", "tiny"),
                        new SerializerConfigImpl());
        if (hasTextKey) {
            ColumnsKey<T> columns = new ColumnsKey<>(type, List.of("text", "number"));
            SelectedKey<T, Row> key =
                    SelectedKey.of(columns, columns.keyType(), KeyLayout.Nulls.MATCH_NOTHING);
            KeyColumn<T> column = KeyColumn.of(columns.columns(), key, false);
            layout = layout.withKeys(List.of(column));
            return keepsNullKeys ? layout.keepingNullKeys(Map.of(column.name(), 1)) : layout;
        }
        return keepsNullKeys ? layout.keepingNullKeys(Map.of("big", 1, "tiny", 2)) : layout;
    }

    private static <T> List<String> pack(
            RecordLayout<T> layout, int partitions, boolean reuse, Stream<T> rows)
            throws Exception {
        Stream<StreamRecord<T>> records = rows.map(StreamRecord::new);
        return packed(
                layout.schema(), PackedRecords.pack(layout, 1 << 14, partitions, reuse, records));
    }

    /** The partition and the bytes of all values of each row. */
    private static List<String> packed(ChunkSchema schema, List<Chunk> chunks) {
        List<String> rows = new ArrayList<>();
        for (Chunk chunk : chunks) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                StringBuilder values = new StringBuilder().append(chunk.partition());
                for (int column = 0; column < schema.size(); column++) {
                    if (schema.column(column).isFixed()) {
                        values.append(' ').append(chunk.getLong(column, row));
                    }
                }
                int start = (int) (chunk.variableWidthStart(row) - Memory.BYTES);
                int end = (int) (chunk.variableWidthEnd(row) - Memory.BYTES);
                byte[] bytes = Arrays.copyOfRange(chunk.array(), start, end);
                rows.add(values + new String(bytes, StandardCharsets.ISO_8859_1));
            }
        }
        return rows;
    }

    static Stream<Arguments> cases() {
        return Stream.of(Form.values())
                .flatMap(
                        form ->
                                Stream.of(
                                        Arguments.of(form, 0, false, false, true),
                                        Arguments.of(form, 0, true, true, true),
                                        Arguments.of(form, 5, true, false, true),
                                        Arguments.of(form, 0, false, false, false),
                                        Arguments.of(form, 3, true, true, false),
                                        Arguments.of(form, 128, false, true, true)));
    }

    @ParameterizedTest(name = "{0}, partitions {1}, reuse {2}, null keys {3}, text key {4}")
    @MethodSource("cases")
    void shouldPackTheValuesThatARowOfTheDataStreamApiHas(
            Form form, int partitions, boolean reuse, boolean keepsNullKeys, boolean hasTextKey)
            throws Exception {
        Object[][] values = values(form.ordinal() + 10L * partitions, 3000);

        List<String> packed =
                pack(
                        layout(InternalTypeInfo.<RowData>of(TYPE), keepsNullKeys, hasTextKey),
                        partitions,
                        reuse,
                        rows(form, values));

        assertThat(packed)
                .hasSizeGreaterThan(1500)
                .containsExactlyElementsOf(
                        pack(
                                layout(ROW, keepsNullKeys, hasTextKey),
                                partitions,
                                reuse,
                                Arrays.stream(values).map(RowDataPackTest::external)));
    }
}
