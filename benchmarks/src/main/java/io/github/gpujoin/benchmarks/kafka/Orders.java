// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.kafka;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;

/** Avro values of ten fields, about 60 bytes each, the same for the same number. */
public final class Orders {

    public static final Schema SCHEMA =
            SchemaBuilder.record("Order")
                    .fields()
                    .requiredLong("id")
                    .requiredLong("customer")
                    .requiredInt("product")
                    .requiredInt("quantity")
                    .requiredDouble("price")
                    .requiredInt("discount")
                    .requiredInt("day")
                    .requiredLong("created")
                    .requiredString("status")
                    .optionalString("note")
                    .endRecord();

    /** All fields. */
    public static final ChunkSchema COLUMNS =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("customer", ColumnType.INT64),
                    Column.of("product", ColumnType.INT32),
                    Column.of("quantity", ColumnType.INT32),
                    Column.of("price", ColumnType.FLOAT64),
                    Column.of("discount", ColumnType.INT32),
                    Column.of("day", ColumnType.INT32),
                    Column.of("created", ColumnType.INT64),
                    Column.of("status", ColumnType.STRING),
                    Column.nullable("note", ColumnType.STRING));

    /** What a star join reads of a fact: keys and measures. */
    public static final ChunkSchema FEW_COLUMNS =
            ChunkSchema.of(
                    List.of(
                            COLUMNS.column(0),
                            COLUMNS.column(1),
                            COLUMNS.column(2),
                            COLUMNS.column(4)));

    private static final String[] STATUS = {"OPEN", "PAID", "SHIPPED", "RETURNED"};
    private static final int CUSTOMERS = 1_000_000;
    private static final int PRODUCTS = 10_000;
    private static final long EPOCH_MS = 1_700_000_000_000L;

    private final GenericDatumWriter<GenericRecord> writer = new GenericDatumWriter<>(SCHEMA);
    private final GenericRecord record = new GenericData.Record(SCHEMA);
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);

    /** Returns the value of an order. */
    public byte[] value(int id) {
        SplittableRandom random = new SplittableRandom(id);
        record.put("id", (long) id);
        record.put("customer", (long) random.nextInt(CUSTOMERS));
        record.put("product", random.nextInt(PRODUCTS));
        record.put("quantity", 1 + random.nextInt(50));
        record.put("price", random.nextInt(100_000) / 100.0);
        record.put("discount", random.nextInt(11));
        record.put("day", 19_000 + random.nextInt(2_500));
        record.put("created", EPOCH_MS + id);
        record.put("status", STATUS[random.nextInt(STATUS.length)]);
        record.put("note", random.nextInt(2) == 0 ? null : "leave at door " + id % 1000);
        bytes.reset();
        try {
            writer.write(record, encoder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
