// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.avro;

import static io.github.gpujoin.formats.testing.FormatRows.read;
import static io.github.gpujoin.formats.testing.FormatRows.readInPieces;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.GenericRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares what is read with what Avro's own reader returns. */
class AvroFormatTest {

    private static final int ROWS = 20_000;

    private static final Schema SCHEMA =
            new Schema.Parser()
                    .parse(
                            """
                            {"type": "record", "name": "t", "fields": [
                              {"name": "name", "type": "string"},
                              {"name": "list", "type": {"type": "array", "items": "long"}},
                              {"name": "id", "type": "long"},
                              {"name": "flag", "type": "boolean"},
                              {"name": "int_n", "type": ["null", "int"]},
                              {"name": "map", "type": {"type": "map", "values": "string"}},
                              {"name": "real_value", "type": "float"},
                              {"name": "double_n", "type": ["double", "null"]},
                              {"name": "bytes", "type": "bytes"},
                              {"name": "color", "type":
                                {"type": "enum", "name": "c", "symbols": ["RED", "GREEN"]}},
                              {"name": "amount", "type":
                                {"type": "bytes", "logicalType": "decimal", "precision": 15, "scale": 2}},
                              {"name": "fixed_amount", "type": ["null",
                                {"type": "fixed", "name": "f", "size": 9, "logicalType": "decimal",
                                 "precision": 18, "scale": 4}]},
                              {"name": "big", "type": {"type": "bytes", "logicalType": "decimal",
                                "precision": 30}},
                              {"name": "day", "type": {"type": "int", "logicalType": "date"}},
                              {"name": "at_time", "type":
                                {"type": "long", "logicalType": "timestamp-micros"}},
                              {"name": "text_n", "type": ["null", "string"]},
                              {"name": "several", "type": ["null", "int", "string"]}
                            ]}
                            """);

    private static final String[] COLUMNS =
            SCHEMA.getFields().stream()
                    .map(Schema.Field::name)
                    .filter(name -> !List.of("list", "map", "several").contains(name))
                    .toArray(String[]::new);

    @TempDir Path folder;

    private Path write(CodecFactory codec) throws IOException {
        Random random = new Random(7);
        Path file = folder.resolve("t.avro");
        try (DataFileWriter<GenericRecord> writer =
                new DataFileWriter<>(new GenericDatumWriter<>(SCHEMA))) {
            writer.setCodec(codec).setSyncInterval(20_000).create(SCHEMA, file.toFile());
            for (int i = 0; i < ROWS; i++) {
                writer.append(record(i, random));
            }
        }
        return file;
    }

    private static GenericRecord record(int i, Random random) {
        GenericRecord row = new GenericData.Record(SCHEMA);
        row.put("name", "row " + i + "\u00e9".repeat(random.nextInt(5)));
        row.put("list", List.of(1L, random.nextLong()));
        row.put("id", (long) i);
        row.put("flag", random.nextBoolean());
        row.put("int_n", random.nextInt(3) == 0 ? null : random.nextInt());
        row.put("map", Map.of("k", "v" + i));
        row.put("real_value", random.nextFloat());
        row.put("double_n", random.nextInt(3) == 0 ? null : random.nextGaussian());
        row.put("bytes", ByteBuffer.wrap(new byte[] {(byte) i, -1, 0}));
        row.put(
                "color",
                new GenericData.EnumSymbol(
                        SCHEMA.getField("color").schema(), i % 2 == 0 ? "RED" : "GREEN"));
        long amount = random.nextLong() >> random.nextInt(64);
        row.put("amount", ByteBuffer.wrap(BigInteger.valueOf(amount).toByteArray()));
        Schema fixed = SCHEMA.getField("fixed_amount").schema().getTypes().get(1);
        byte[] padded = new byte[9];
        Arrays.fill(padded, amount < 0 ? (byte) -1 : 0);
        byte[] digits = BigInteger.valueOf(amount).toByteArray();
        System.arraycopy(digits, 0, padded, 9 - digits.length, digits.length);
        row.put("fixed_amount", i % 5 == 0 ? null : new GenericData.Fixed(fixed, padded));
        row.put("big", ByteBuffer.wrap(BigInteger.TEN.pow(25).toByteArray()));
        row.put("day", random.nextInt(20_000));
        row.put("at_time", random.nextLong());
        row.put("text_n", random.nextInt(3) == 0 ? null : "t" + random.nextInt(100));
        row.put("several", i % 2 == 0 ? (Object) i : "s");
        return row;
    }

    private static AvroFormat like(Path file, String... columns) throws IOException {
        return AvroFormat.like(new org.apache.flink.core.fs.Path(file.toUri()), columns);
    }

    private static List<List<@Nullable Object>> expected(Path file) throws IOException {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        try (DataFileReader<GenericRecord> reader =
                new DataFileReader<>(file.toFile(), new GenericDatumReader<>())) {
            for (GenericRecord record : reader) {
                rows.add(
                        Arrays.stream(COLUMNS)
                                .<@Nullable Object>map(c -> value(c, record.get(c)))
                                .toList());
            }
        }
        return rows;
    }

    private static @Nullable Object value(String column, @Nullable Object value) {
        if (value instanceof ByteBuffer || value instanceof GenericFixed) {
            byte[] bytes =
                    value instanceof GenericFixed fixed
                            ? fixed.bytes()
                            : ((ByteBuffer) value).array();
            return column.endsWith("amount")
                    ? (Object) new BigInteger(bytes).longValueExact()
                    : new String(bytes, StandardCharsets.ISO_8859_1);
        }
        if (value instanceof Boolean flag) {
            return flag ? 1L : 0L;
        }
        if (value instanceof Integer number) {
            return number.longValue();
        }
        if (value instanceof Float number) {
            return number.doubleValue();
        }
        return value == null || value instanceof Number ? value : value.toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "deflate", "snappy", "bzip2"})
    void shouldReadWhatAvroWrote(String codec) throws Exception {
        Path file = write(CodecFactory.fromString(codec));
        AvroFormat format = like(file, COLUMNS);
        List<List<@Nullable Object>> rows = read(format, file);
        assertThat(rows).isEqualTo(expected(file));
        for (long seed = 1; seed <= 3; seed++) {
            assertThat(readInPieces(format, file, new Random(seed))).isEqualTo(rows);
        }
    }

    @Test
    void shouldReadColumnsInTheOrderOfTheSchemaAndWiderIntegers() throws Exception {
        Path file = write(CodecFactory.nullCodec());
        AvroFormat format =
                AvroFormat.of(
                        ChunkSchema.of(
                                Column.nullable("text_n", ColumnType.STRING),
                                Column.of("day", ColumnType.INT64),
                                Column.nullable("int_n", ColumnType.INT64),
                                Column.of("name", ColumnType.STRING)));
        List<List<@Nullable Object>> rows = read(format, file);
        assertThat(rows).hasSize(ROWS);
        assertThat(rows.get(17).get(3)).asString().startsWith("row 17");
    }

    @ParameterizedTest
    @CsvSource({
        "int_n, INT32, Null in a column that is declared as not nullable: column=int_n",
        "absent, INT32, Column is not in the Avro file: column=absent",
        "id, INT32, Column has another type in the Avro file",
        "list, INT32, 'Column of an Avro file is nested. Leave it out, or convert it: column=list'",
        "several, INT32, Column of an Avro file is a union of several types",
    })
    void shouldRejectWhatTheSchemaDoesNotAllow(String column, ColumnType type, String message)
            throws Exception {
        Path file = write(CodecFactory.nullCodec());
        AvroFormat format = AvroFormat.of(ChunkSchema.of(Column.of(column, type)));
        assertThatThrownBy(() -> read(format, file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("t.avro");
    }

    @Test
    void shouldRejectTruncatedFiles() throws Exception {
        Path file = write(CodecFactory.nullCodec());
        AvroFormat format = like(file, "id");
        byte[] bytes = Files.readAllBytes(file);
        for (int length : new int[] {bytes.length - 1, bytes.length - 17, bytes.length / 2}) {
            Files.write(file, Arrays.copyOf(bytes, length));
            assertThatThrownBy(() -> read(format, file))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("Cannot read a block of an Avro file: file=")
                    .hasMessageContaining("offset=")
                    .hasMessageContaining("t.avro");
        }
        Files.write(file, Arrays.copyOf(bytes, 10));
        assertThatThrownBy(() -> read(format, file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Not an Avro container file, or damaged")
                .hasMessageContaining("t.avro");
    }

    /** The specification allows them, though Avro's own writer makes none. */
    @Test
    void shouldPassBlocksWithoutRows() throws Exception {
        Schema schema = SchemaBuilder.record("r").fields().requiredLong("id").endRecord();
        byte[] sync = new byte[16];
        new Random(5).nextBytes(sync);
        byte[] empty = new byte[2 + sync.length];
        System.arraycopy(sync, 0, empty, 2, sync.length);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        List<List<@Nullable Object>> expected = new ArrayList<>();
        try (DataFileWriter<GenericRecord> writer =
                new DataFileWriter<>(new GenericDatumWriter<>(schema))) {
            writer.create(schema, out, sync);
            for (long id = 0; id < 5; id++) {
                writer.flush();
                for (int i = 0; i < id % 3; i++) {
                    out.write(empty);
                }
                GenericRecord row = new GenericData.Record(schema);
                row.put("id", id);
                writer.append(row);
                expected.add(List.of(id));
            }
        }
        out.write(empty);
        Path file = Files.write(folder.resolve("t.avro"), out.toByteArray());
        AvroFormat format = like(file);
        assertThat(read(format, file)).isEqualTo(expected);
        for (long seed = 1; seed <= 20; seed++) {
            assertThat(readInPieces(format, file, new Random(seed))).isEqualTo(expected);
        }
    }

    @Test
    void shouldRejectALengthThatSnappyCannotReach() throws Exception {
        Path file = write(CodecFactory.snappyCodec());
        AvroFormat format = like(file, "id");
        byte[] bytes = Files.readAllBytes(file);
        int data;
        try (DataFileReader<Void> reader =
                new DataFileReader<>(file.toFile(), new GenericDatumReader<>())) {
            data = (int) reader.previousSync();
        }
        for (int number = 0; number < 2; number++) {
            while (bytes[data++] < 0) {
                // Behind the block's count of rows and its length.
            }
        }
        // The largest length that Snappy can write, 4 GiB.
        Arrays.fill(bytes, data, data + 4, (byte) 0xFF);
        bytes[data + 4] = 0xF;
        Files.write(file, bytes);
        assertThatThrownBy(() -> read(format, file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("t.avro")
                .hasMessageContaining("Length of a Snappy block is wrong: bytes=4294967295");
    }

    /** Damage is refused with the file's name, or values differ; nothing else is thrown. */
    @ParameterizedTest
    @ValueSource(strings = {"null", "deflate", "snappy"})
    void shouldReadDamagedFilesOrRejectThem(String codec) throws Exception {
        Path file = write(CodecFactory.fromString(codec));
        AvroFormat format = like(file, "id", "name", "int_n", "amount", "color");
        byte[] bytes = Files.readAllBytes(file);
        Random random = new Random(5);
        int rejected = 0;
        for (int i = 0; i < 60; i++) {
            byte[] damaged = bytes.clone();
            damaged[i % 3 == 0 ? random.nextInt(3000) : random.nextInt(bytes.length)] ^=
                    (byte) (1 << random.nextInt(8));
            Files.write(file, damaged);
            try {
                read(format, file);
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("t.avro");
                rejected++;
            }
        }
        assertThat(rejected).isPositive();
    }
}
