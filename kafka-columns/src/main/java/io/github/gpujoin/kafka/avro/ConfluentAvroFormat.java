// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.avro;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.formats.record.AvroRecords;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.formats.record.RowWriter;
import io.github.gpujoin.kafka.RecordDecoder;
import io.github.gpujoin.kafka.RecordFormat;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.flink.annotation.PublicEvolving;
import org.jspecify.annotations.Nullable;

/**
 * Avro values as Confluent's serializers write them: a zero byte, the id of the writer's schema in
 * a registry in 4 bytes, big-endian, and the record. Types are those of {@link AvroFormat}. Values
 * of several schemas may be mixed; each must have all columns, or {@link #readAs} a default.
 */
@PublicEvolving
public final class ConfluentAvroFormat implements RecordFormat {

    private static final long serialVersionUID = 1L;
    private static final int FRAME_BYTES = 5;

    /** A schema that cannot be read is asked for again after a minute. */
    private static final long RETRY_NS = TimeUnit.MINUTES.toNanos(1);

    /** Damaged values may have any ids. */
    private static final int MOST_FAILURES = 1000;

    private final SchemaRegistry registry;
    private final @Nullable Schema reader;

    private ConfluentAvroFormat(SchemaRegistry registry, @Nullable Schema reader) {
        this.registry = registry;
        this.reader = reader;
    }

    /**
     * Creates a format.
     *
     * @param registry that knows the writers' schemas
     * @return the format
     */
    public static ConfluentAvroFormat of(SchemaRegistry registry) {
        return new ConfluentAvroFormat(Objects.requireNonNull(registry, "registry"), null);
    }

    /**
     * Returns a format that also finds fields by the aliases of a schema, and takes its defaults
     * for fields that a writer does not have.
     *
     * @param schema the reader's
     * @return the format
     */
    public ConfluentAvroFormat readAs(Schema schema) {
        return new ConfluentAvroFormat(registry, Objects.requireNonNull(schema, "schema"));
    }

    @Override
    public RecordDecoder open(ChunkSchema schema) {
        if (reader != null) {
            AvroRecords.of(reader, reader, schema); // refuses columns that no writer can fill
        }
        return new Decoder(registry, reader, schema);
    }

    /** Why a schema cannot be read, so that the registry is not asked for each such record. */
    private record Failure(String message, long atNs) {}

    private static final class Decoder implements RecordDecoder {

        private final SchemaRegistry registry;
        private final @Nullable Schema reader;
        private final ChunkSchema columns;
        private final Map<Integer, AvroRecords> byId = new HashMap<>();
        private final Map<Integer, Failure> failures = new HashMap<>();

        /** Decodes the value before, whose schema the next one usually has. */
        private @Nullable AvroRecords last;

        private int lastId;

        Decoder(SchemaRegistry registry, @Nullable Schema reader, ChunkSchema columns) {
            this.registry = registry;
            this.reader = reader;
            this.columns = columns;
        }

        @Override
        public void decode(byte[] value, RowWriter row) throws IOException {
            if (value.length < FRAME_BYTES || value[0] != 0) {
                throw new BadRecordException(
                        "Value has no Confluent frame, a zero byte and a schema id: lengthBytes="
                                + value.length
                                + (value.length == 0 ? "" : ", firstByte=" + value[0]));
            }
            int id =
                    value[1] << 24
                            | (value[2] & 0xFF) << 16
                            | (value[3] & 0xFF) << 8
                            | value[4] & 0xFF;
            AvroRecords records = last;
            if (records == null || id != lastId) {
                records = records(id);
                last = records;
                lastId = id;
            }
            AvroFormat.decode(records, value, FRAME_BYTES, row);
        }

        private AvroRecords records(int id) throws IOException {
            AvroRecords known = byId.get(id);
            if (known != null) {
                return known;
            }
            Failure before = failures.get(id);
            if (before != null && System.nanoTime() - before.atNs() < RETRY_NS) {
                throw new BadRecordException(before.message());
            }
            try {
                Schema writer = new Schema.Parser().parse(registry.schema(id));
                AvroRecords records = AvroRecords.of(writer, reader, columns);
                byId.put(id, records);
                failures.remove(id);
                return records;
            } catch (BadRecordException e) {
                throw failed(id, e.getMessage(), e);
            } catch (AvroRuntimeException | IllegalArgumentException e) {
                String message =
                        "Schema of the registry does not fit: id="
                                + id
                                + ", registry="
                                + registry
                                + ", cause="
                                + e.getMessage();
                throw failed(id, message, e);
            }
        }

        private BadRecordException failed(int id, String message, Exception cause) {
            if (failures.size() == MOST_FAILURES) {
                failures.clear();
            }
            failures.put(id, new Failure(message, System.nanoTime()));
            return new BadRecordException(message, cause);
        }
    }
}
