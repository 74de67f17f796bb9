// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.avro;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.kafka.DecodedRows;
import io.github.gpujoin.kafka.RecordFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AvroFormatTest {

    private static final Schema TREE =
            new Schema.Parser()
                    .parse(
                            """
                            {"type": "record", "name": "Tree", "fields": [
                              {"name": "leaf", "type": "string"},
                              {"name": "branches", "type": {"type": "array", "items": "Tree"}}]}
                            """);

    /** A type of a field, and the column that reads it; null for a field that none reads. */
    private record Kind(Schema type, ColumnType column) {}

    private static final List<Kind> KINDS =
            List.of(
                    new Kind(Schema.create(Schema.Type.BOOLEAN), ColumnType.INT8),
                    new Kind(Schema.create(Schema.Type.INT), ColumnType.INT32),
                    new Kind(Schema.create(Schema.Type.INT), ColumnType.INT64),
                    new Kind(Schema.create(Schema.Type.LONG), ColumnType.INT64),
                    new Kind(Schema.create(Schema.Type.FLOAT), ColumnType.FLOAT32),
                    new Kind(Schema.create(Schema.Type.FLOAT), ColumnType.FLOAT64),
                    new Kind(Schema.create(Schema.Type.DOUBLE), ColumnType.FLOAT64),
                    new Kind(Schema.create(Schema.Type.STRING), ColumnType.STRING),
                    new Kind(Schema.create(Schema.Type.BYTES), ColumnType.BYTES),
                    new Kind(Schema.createFixed("Six", null, null, 6), ColumnType.BYTES),
                    new Kind(
                            Schema.createEnum("Color", null, null, List.of("RED", "GREEN")),
                            ColumnType.STRING),
                    new Kind(Schema.createArray(Schema.create(Schema.Type.LONG)), null),
                    new Kind(Schema.createMap(Schema.create(Schema.Type.STRING)), null),
                    new Kind(TREE, null));

    private static byte[] encode(GenericRecord record) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
        try {
            new GenericDatumWriter<GenericRecord>(record.getSchema()).write(record, encoder);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return bytes.toByteArray();
    }

    private static Object random(Schema type, Random random) {
        byte[] bytes = new byte[type.getType() == Schema.Type.FIXED ? 6 : random.nextInt(9)];
        random.nextBytes(bytes);
        return switch (type.getType()) {
            case BOOLEAN -> random.nextBoolean();
            case INT -> random.nextInt() >> random.nextInt(32);
            case LONG -> random.nextLong() >> random.nextInt(64);
            case FLOAT -> random.nextFloat();
            case DOUBLE -> random.nextGaussian();
            case STRING -> "t\u00e4xt \ud83d\ude00 ".repeat(random.nextInt(4));
            case BYTES -> ByteBuffer.wrap(bytes);
            case FIXED -> new GenericData.Fixed(type, bytes);
            case ENUM ->
                    new GenericData.EnumSymbol(type, type.getEnumSymbols().get(random.nextInt(2)));
            case ARRAY -> List.of(random.nextLong(), random.nextLong());
            case MAP -> Collections.singletonMap("key", "value " + random.nextInt());
            case UNION -> random.nextInt(3) == 0 ? null : random(type.getTypes().get(1), random);
            case RECORD -> {
                GenericRecord tree = new GenericData.Record(TREE);
                tree.put("leaf", "leaf " + random.nextInt());
                tree.put(
                        "branches",
                        random.nextInt(3) == 0 ? List.of(random(TREE, random)) : List.of());
                yield tree;
            }
            default -> throw new IllegalArgumentException(type.toString());
        };
    }

    private static Object expected(Object value) {
        if (value instanceof Boolean bool) {
            return bool ? 1L : 0L;
        } else if (value instanceof Integer || value instanceof Long) {
            return ((Number) value).longValue();
        } else if (value instanceof Number number) {
            return number.doubleValue();
        } else if (value instanceof GenericData.Fixed fixed) {
            return ByteBuffer.wrap(fixed.bytes());
        } else if (value instanceof GenericData.EnumSymbol symbol) {
            return symbol.toString();
        }
        return value;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void shouldReadWhatAvroWrites(long seed) throws IOException {
        Random random = new Random(seed);
        List<Schema.Field> fields = new ArrayList<>();
        List<Column> columns = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            Kind kind = KINDS.get(random.nextInt(KINDS.size()));
            boolean isNullable = random.nextBoolean();
            Schema type =
                    isNullable
                            ? Schema.createUnion(Schema.create(Schema.Type.NULL), kind.type())
                            : kind.type();
            fields.add(new Schema.Field("f" + i, type));
            if (kind.column() != null && random.nextInt(3) > 0) {
                columns.add(new Column("f" + i, kind.column(), isNullable));
            }
        }
        Collections.shuffle(columns, random);
        Schema writer = Schema.createRecord("Row", null, "test", false, fields);
        List<byte[]> values = new ArrayList<>();
        List<List<Object>> expected = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            GenericRecord record = new GenericData.Record(writer);
            fields.forEach(f -> record.put(f.name(), random(f.schema(), random)));
            values.add(encode(record));
            expected.add(
                    new ArrayList<>(
                            columns.stream().map(c -> expected(record.get(c.name()))).toList()));
        }

        assertThat(DecodedRows.of(AvroFormat.of(writer), ChunkSchema.of(columns), values))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadOrRefuseAnyBytes(long seed) throws IOException {
        Random random = new Random(seed);
        List<Schema.Field> fields = new ArrayList<>();
        for (int i = 0; i < KINDS.size(); i++) {
            fields.add(new Schema.Field("f" + i, KINDS.get(i).type()));
        }
        Schema writer = Schema.createRecord("Row", null, "test", false, fields);
        ChunkSchema columns = ChunkSchema.of(Column.of("f7", ColumnType.STRING));
        RecordFormat format = AvroFormat.of(writer);
        for (int i = 0; i < 2000; i++) {
            GenericRecord record = new GenericData.Record(writer);
            fields.forEach(f -> record.put(f.name(), random(f.schema(), random)));
            byte[] value = encode(record);
            for (int flips = random.nextInt(4); flips >= 0; flips--) {
                value[random.nextInt(value.length)] = (byte) random.nextInt();
            }
            byte[] damaged = Arrays.copyOf(value, random.nextInt(value.length + 1));
            try {
                assertThat(DecodedRows.of(format, columns, List.of(damaged))).hasSize(1);
            } catch (BadRecordException e) {
                assertThat(e).hasMessageNotContaining("null");
            }
        }
    }

    @Test
    void shouldReadDecimalsAsACountOfTheirLastDigit() throws IOException {
        Schema decimal = LogicalTypes.decimal(10, 2).addToSchema(Schema.create(Schema.Type.BYTES));
        Schema writer =
                SchemaBuilder.record("Row")
                        .fields()
                        .name("d")
                        .type(decimal)
                        .noDefault()
                        .endRecord();
        List<byte[]> values = new ArrayList<>();
        List<List<Object>> expected = new ArrayList<>();
        for (long value : new long[] {0, -1, 1, 127, 128, -129, 9_999_999_999L, Long.MIN_VALUE}) {
            GenericRecord record = new GenericData.Record(writer);
            record.put("d", ByteBuffer.wrap(BigInteger.valueOf(value).toByteArray()));
            values.add(encode(record));
            expected.add(List.of(value));
        }
        ChunkSchema columns = ChunkSchema.of(Column.of("d", ColumnType.INT64));
        assertThat(DecodedRows.of(AvroFormat.of(writer), columns, values)).isEqualTo(expected);
    }

    private static final Schema ORDER =
            SchemaBuilder.record("Order")
                    .fields()
                    .requiredLong("id")
                    .optionalString("note")
                    .endRecord();

    private static byte[] order(long id, String note) {
        GenericRecord record = new GenericData.Record(ORDER);
        record.put("id", id);
        record.put("note", note);
        return encode(record);
    }

    @Test
    void shouldNameColumnsThatAFieldIsMissingFor() {
        ChunkSchema columns = ChunkSchema.of(Column.nullable("price", ColumnType.INT64));
        assertThatThrownBy(() -> AvroFormat.of(ORDER).open(columns))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Column is not in the Avro schema: column=price, fields=[id, note]");
    }

    @Test
    void shouldRefuseColumnsOfOtherTypes() {
        ChunkSchema columns = ChunkSchema.of(Column.of("note", ColumnType.INT64));
        assertThatThrownBy(() -> AvroFormat.of(ORDER).open(columns))
                .hasMessageContaining("Column cannot hold the values of its Avro field")
                .hasMessageContaining("name=note");
    }

    @Test
    void shouldReadFieldsByAliasesAndDefaultsOfTheReader() throws IOException {
        Schema reader =
                SchemaBuilder.record("Order")
                        .fields()
                        .name("number")
                        .aliases("id")
                        .type()
                        .longType()
                        .noDefault()
                        .name("currency")
                        .type()
                        .stringType()
                        .stringDefault("EUR")
                        .endRecord();
        ChunkSchema columns =
                ChunkSchema.of(
                        Column.of("currency", ColumnType.STRING),
                        Column.of("number", ColumnType.INT64));
        assertThat(
                        DecodedRows.of(
                                AvroFormat.of(ORDER).readAs(reader),
                                columns,
                                List.of(order(7, null))))
                .isEqualTo(List.of(List.of("EUR", 7L)));
    }

    @Test
    void shouldNameTheFieldOfABadRecord() {
        ChunkSchema narrow = ChunkSchema.of(Column.of("id", ColumnType.INT8));
        assertThatThrownBy(
                        () ->
                                DecodedRows.of(
                                        AvroFormat.of(ORDER), narrow, List.of(order(300, null))))
                .isInstanceOf(BadRecordException.class)
                .hasMessageContaining("field=id: Value is out of range")
                .hasMessageContaining("value=300");
        ChunkSchema notNull = ChunkSchema.of(Column.of("note", ColumnType.STRING));
        assertThatThrownBy(
                        () ->
                                DecodedRows.of(
                                        AvroFormat.of(ORDER), notNull, List.of(order(1, null))))
                .hasMessage("field=note: Null in a column that is not nullable: column=note");
        assertThatThrownBy(
                        () -> DecodedRows.of(AvroFormat.of(ORDER), notNull, List.of(new byte[0])))
                .hasMessage("field=id: Value ends too early: wantedBytes=1, leftBytes=0");
    }
}
