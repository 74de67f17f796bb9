// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.consumer.ConsumerConfig;

/**
 * Reads topics of Kafka as columnar chunks, for {@code StarJoin.ofChunks} and {@code
 * dimensionChunks}. It is Flink's {@link KafkaSource}, with all of its settings, whose records are
 * written into columns: one fetch of a partition becomes a few chunks, of 256 KiB at most, and no
 * row waits for the next fetch. Exactly once, as Flink's source is.
 *
 * <pre>{@code
 * DataStream<Chunk> orders =
 *         ColumnarKafka.of(
 *                         AvroFormat.of(writerSchema),
 *                         schema,
 *                         kafka -> kafka.setBootstrapServers("broker:9092")
 *                                 .setTopics("orders")
 *                                 .setGroupId("enrichment"))
 *                 .toStream(env, "orders");
 * }</pre>
 *
 * <p>A record without a value (a tombstone) is no row; the metric {@code tombstones} counts them.
 * Savepoints hold the state of Flink's Kafka source, so a job may change from one to the other
 * under the same uid.
 */
@PublicEvolving
public final class ColumnarKafka {

    private final RecordFormat format;
    private final ChunkSchema values;
    private final Consumer<KafkaSourceBuilder<Chunk>> settings;
    private final List<KafkaField> fields;
    private final List<String> fieldNames;
    private final boolean skipsBadRecords;

    private ColumnarKafka(
            RecordFormat format,
            ChunkSchema values,
            Consumer<KafkaSourceBuilder<Chunk>> settings,
            List<KafkaField> fields,
            List<String> fieldNames,
            boolean skipsBadRecords) {
        this.format = format;
        this.values = values;
        this.settings = settings;
        this.fields = fields;
        this.fieldNames = fieldNames;
        this.skipsBadRecords = skipsBadRecords;
    }

    /**
     * Creates a source.
     *
     * @param format of the values
     * @param schema columns to read, which the format finds by name
     * @param settings sets brokers, topics, offsets, bounds and properties of the source; all but
     *     the deserializer. {@code max.poll.records} is 16,384 if it does not set it
     * @return the source
     */
    public static ColumnarKafka of(
            RecordFormat format, ChunkSchema schema, Consumer<KafkaSourceBuilder<Chunk>> settings) {
        return new ColumnarKafka(
                Objects.requireNonNull(format, "format"),
                Objects.requireNonNull(schema, "schema"),
                Objects.requireNonNull(settings, "settings"),
                List.of(),
                List.of(),
                false);
    }

    /**
     * Returns a source whose chunks have one more column, the last one.
     *
     * @param field what it holds
     * @param column its name
     * @return the source
     */
    public ColumnarKafka withField(KafkaField field, String column) {
        List<KafkaField> moreFields = new ArrayList<>(fields);
        List<String> moreNames = new ArrayList<>(fieldNames);
        moreFields.add(Objects.requireNonNull(field, "field"));
        moreNames.add(Objects.requireNonNull(column, "column"));
        ChunkRecords.schema(values, moreFields, moreNames);
        return new ColumnarKafka(format, values, settings, moreFields, moreNames, skipsBadRecords);
    }

    /**
     * Returns a source that skips records which it cannot read, counts them in the metric {@code
     * badRecords} and logs some. Without it the first one fails the job.
     *
     * @return the source
     */
    public ColumnarKafka skipBadRecords() {
        return new ColumnarKafka(format, values, settings, fields, fieldNames, true);
    }

    /**
     * Returns the columns of all chunks: those of the value, then those of {@link #withField}.
     *
     * @return the schema
     */
    public ChunkSchema schema() {
        return ChunkRecords.schema(values, fields, fieldNames);
    }

    /**
     * Returns the source for {@link StreamExecutionEnvironment#fromSource}. A chunk has rows of one
     * partition, and the latest timestamp of their records, so that strategies which watermark by
     * the largest timestamp so far apply to chunks as to records, for each partition by itself.
     *
     * @return the source of Flink
     */
    public Source<Chunk, KafkaPartitionSplit, KafkaSourceEnumState> build() {
        return build(true);
    }

    private Source<Chunk, KafkaPartitionSplit, KafkaSourceEnumState> build(
            boolean hasOnePartitionAChunk) {
        ChunkRecords records =
                new ChunkRecords(
                        format, values, fields, fieldNames, skipsBadRecords, hasOnePartitionAChunk);
        KafkaSourceBuilder<Chunk> kafka = KafkaSource.builder();
        // Kafka's own default is 500: a poll, and so a chunk, would be that short.
        kafka.setProperty(
                ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
                Integer.toString(ChunkReader.RECORDS_A_POLL));
        settings.accept(kafka);
        return new KafkaChunkSource(kafka.setDeserializer(records).build(), records);
    }

    /**
     * Adds the source to a job, without watermarks. A chunk may have rows of several partitions.
     *
     * @param env of the job
     * @param uid of the source, and its name
     * @return the stream of chunks
     */
    public DataStreamSource<Chunk> toStream(StreamExecutionEnvironment env, String uid) {
        return toStream(env, uid, WatermarkStrategy.noWatermarks(), false);
    }

    /**
     * Adds the source to a job. A chunk has rows of one partition; its timestamp is the latest of
     * their records, unless the strategy assigns another ({@link ColumnTimestamps}).
     *
     * @param env of the job
     * @param uid of the source, and its name
     * @param watermarks by the largest timestamp so far, as {@link
     *     WatermarkStrategy#forBoundedOutOfOrderness} makes them
     * @return the stream of chunks
     */
    public DataStreamSource<Chunk> toStream(
            StreamExecutionEnvironment env, String uid, WatermarkStrategy<Chunk> watermarks) {
        return toStream(env, uid, Objects.requireNonNull(watermarks, "watermarks"), true);
    }

    private DataStreamSource<Chunk> toStream(
            StreamExecutionEnvironment env,
            String uid,
            WatermarkStrategy<Chunk> watermarks,
            boolean hasOnePartitionAChunk) {
        Objects.requireNonNull(env, "env");
        Objects.requireNonNull(uid, "uid");
        DataStreamSource<Chunk> stream =
                env.fromSource(
                        build(hasOnePartitionAChunk), watermarks, uid, ChunkTypeInfo.of(schema()));
        stream.uid(uid);
        return stream;
    }
}
