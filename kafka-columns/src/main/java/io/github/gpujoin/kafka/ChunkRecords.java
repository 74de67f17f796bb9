// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.formats.record.RowWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.common.serialization.DeserializationSchema.InitializationContext;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.metrics.Counter;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the records of a Kafka source in chunks. {@link ChunkReader} sets where chunks are
 * emitted, and flushes before it returns to the task. Used by the task's thread.
 */
final class ChunkRecords implements KafkaRecordDeserializationSchema<Chunk> {

    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(ChunkRecords.class);

    /** Bytes of rows in a chunk. */
    private static final int CHUNK_BYTES = 256 << 10;

    private final RecordFormat format;
    private final ChunkSchema values;

    /** What each column behind those of the value is. */
    private final List<KafkaField> fields;

    private final ChunkSchema schema;
    private final boolean skipsBadRecords;
    private final boolean hasOnePartitionAChunk;

    private transient ChunkBuilder builder;
    private transient RowWriter row;
    private transient RecordDecoder decoder;
    private transient Counter badRecords;
    private transient Counter tombstones;
    private transient @Nullable ReaderOutput<Chunk> output;
    private transient @Nullable Counter recordsOut;

    /** Of the rows in the builder. */
    private transient String topic;

    private transient int partition;
    private transient long latestTimestamp;
    private transient boolean isPollFull;

    ChunkRecords(
            RecordFormat format,
            ChunkSchema values,
            List<KafkaField> fields,
            List<String> fieldNames,
            boolean skipsBadRecords,
            boolean hasOnePartitionAChunk) {
        this.format = format;
        this.values = values;
        this.fields = List.copyOf(fields);
        this.schema = schema(values, fields, fieldNames);
        this.skipsBadRecords = skipsBadRecords;
        this.hasOnePartitionAChunk = hasOnePartitionAChunk;
    }

    static ChunkSchema schema(ChunkSchema values, List<KafkaField> fields, List<String> names) {
        List<Column> columns = new ArrayList<>(values.columns());
        for (int i = 0; i < fields.size(); i++) {
            columns.add(fields.get(i).column(names.get(i)));
        }
        return ChunkSchema.of(columns);
    }

    @Override
    public void open(InitializationContext context) throws IOException {
        builder = new ChunkBuilder(schema, CHUNK_BYTES);
        row = new RowWriter(builder);
        decoder = format.open(values);
        badRecords = context.getMetricGroup().counter("badRecords");
        tombstones = context.getMetricGroup().counter("tombstones");
        topic = "";
        latestTimestamp = Long.MIN_VALUE;
    }

    /**
     * Sets where the chunks of further records are emitted.
     *
     * @param recordsOut Flink's counter of the source, which counts each chunk as one record
     */
    void output(ReaderOutput<Chunk> output, Counter recordsOut) {
        this.output = output;
        this.recordsOut = recordsOut;
    }

    void startPoll() {
        isPollFull = false;
    }

    /** Returns whether a full chunk was emitted since the poll started. */
    boolean isPollFull() {
        return isPollFull;
    }

    /** Appends a record. Emits through {@link #output}: the collector may be of a later split. */
    @Override
    public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<Chunk> ignored)
            throws IOException {
        boolean isOther = record.partition() != partition || !record.topic().equals(topic);
        if (isOther) {
            if (hasOnePartitionAChunk) {
                flush();
            }
            topic = record.topic();
            partition = record.partition();
        }
        if (record.value() == null) {
            tombstones.inc();
        } else if (append(record)) {
            latestTimestamp = Math.max(latestTimestamp, record.timestamp());
            if (builder.isFull()) {
                flush();
                isPollFull = true;
            }
        }
    }

    /** Returns whether the record became a row. */
    private boolean append(ConsumerRecord<byte[], byte[]> record) throws IOException {
        try {
            row.begin();
            decoder.decode(record.value(), row);
            for (int i = 0; i < fields.size(); i++) {
                fields.get(i).write(record, values.size() + i, row);
            }
            row.end();
            return true;
        } catch (BadRecordException e) {
            if (!skipsBadRecords) {
                throw failure(record, e);
            }
            builder.discardRow();
            badRecords.inc();
            // A topic of bad records must not fill the log.
            if (Long.bitCount(badRecords.getCount()) == 1) {
                LOG.warn("{} (skipped so far: {})", message(record, e), badRecords.getCount());
            }
            return false;
        } catch (IOException | RuntimeException e) {
            throw failure(record, e);
        }
    }

    private static IOException failure(ConsumerRecord<byte[], byte[]> record, Exception cause) {
        return new IOException(message(record, cause), cause);
    }

    private static String message(ConsumerRecord<byte[], byte[]> record, Exception cause) {
        return "A Kafka record cannot be read: topic="
                + record.topic()
                + ", partition="
                + record.partition()
                + ", offset="
                + record.offset()
                + ", cause="
                + cause.getMessage();
    }

    /** Emits the rows so far, with the latest timestamp of their records. */
    void flush() {
        if (builder.isEmpty()) {
            return;
        }
        Chunk chunk = builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
        ReaderOutput<Chunk> all = Objects.requireNonNull(output, "output");
        SourceOutput<Chunk> target = all;
        if (hasOnePartitionAChunk) {
            target =
                    all.createOutputForSplit(
                            KafkaPartitionSplit.toSplitId(new TopicPartition(topic, partition)));
        }
        target.collect(chunk, latestTimestamp);
        Objects.requireNonNull(recordsOut, "recordsOut").inc(chunk.rowCount() - 1);
        latestTimestamp = Long.MIN_VALUE;
    }

    @Override
    public TypeInformation<Chunk> getProducedType() {
        return ChunkTypeInfo.of(schema);
    }
}
