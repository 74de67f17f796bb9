// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.kafka;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.pack.PackOperator;
import io.github.gpujoin.flink.pack.PackSpec;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.kafka.ColumnarKafka;
import io.github.gpujoin.kafka.avro.AvroFormat;
import java.util.List;
import java.util.Locale;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.formats.avro.AvroDeserializationSchema;
import org.apache.flink.formats.avro.AvroRowDataDeserializationSchema;
import org.apache.flink.formats.avro.typeutils.AvroSchemaConverter;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;

/** The jobs that are compared: one source, what it reads, and a sink that counts it. */
public enum KafkaJob {
    /** Values are written into chunks of all columns. */
    OURS_CHUNKS {
        @Override
        void build(StreamExecutionEnvironment env, String servers) {
            countChunks(ours(env, servers, Orders.COLUMNS));
        }
    },
    /** The same for four of the ten columns. */
    OURS_FOUR_COLUMNS {
        @Override
        void build(StreamExecutionEnvironment env, String servers) {
            countChunks(ours(env, servers, Orders.FEW_COLUMNS));
        }
    },
    /** Flink SQL's Avro format. */
    FLINK_ROWDATA {
        @Override
        void build(StreamExecutionEnvironment env, String servers) {
            Counting.count(flink(env, servers, rowDataFormat()), row -> 1, row -> row.getLong(0));
        }
    },
    /** The same, and a packer that makes chunks of the records. */
    FLINK_ROWDATA_PACKED {
        @Override
        void build(StreamExecutionEnvironment env, String servers) {
            countChunks(packed(flink(env, servers, rowDataFormat())));
        }
    },
    /** Flink's Avro format of the DataStream API. */
    FLINK_GENERIC {
        @Override
        void build(StreamExecutionEnvironment env, String servers) {
            Counting.count(
                    flink(env, servers, AvroDeserializationSchema.forGeneric(Orders.SCHEMA)),
                    record -> 1,
                    record -> (Long) record.get(0));
        }
    },
    /** The same, and a packer that makes chunks of the records. */
    FLINK_GENERIC_PACKED {
        @Override
        void build(StreamExecutionEnvironment env, String servers) {
            DataStream<GenericRecord> records =
                    flink(env, servers, AvroDeserializationSchema.forGeneric(Orders.SCHEMA));
            countChunks(packed(records));
        }
    };

    /** Adds the job, of parallelism 1, to an environment. */
    abstract void build(StreamExecutionEnvironment env, String servers);

    /** Name in reports. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The same settings for all. */
    private static <T> void configure(KafkaSourceBuilder<T> kafka, String servers) {
        kafka.setBootstrapServers(servers)
                .setTopics(OrdersTopic.NAME)
                .setGroupId("bench")
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setBounded(OffsetsInitializer.latest())
                .setProperty("max.poll.records", "16384");
    }

    private static DataStream<Chunk> ours(
            StreamExecutionEnvironment env, String servers, ChunkSchema columns) {
        return ColumnarKafka.of(
                        AvroFormat.of(Orders.SCHEMA), columns, kafka -> configure(kafka, servers))
                .toStream(env, "orders");
    }

    private static <T> DataStream<T> flink(
            StreamExecutionEnvironment env, String servers, DeserializationSchema<T> format) {
        KafkaSourceBuilder<T> kafka = KafkaSource.builder();
        configure(kafka, servers);
        return env.fromSource(
                kafka.setValueOnlyDeserializer(format).build(),
                WatermarkStrategy.noWatermarks(),
                "orders");
    }

    static DeserializationSchema<RowData> rowDataFormat() {
        RowType type =
                (RowType)
                        AvroSchemaConverter.convertToDataType(Orders.SCHEMA.toString())
                                .getLogicalType();
        return new AvroRowDataDeserializationSchema(type, InternalTypeInfo.of(type));
    }

    private static <T> DataStream<Chunk> packed(DataStream<T> records) {
        List<String> columns = Orders.COLUMNS.columns().stream().map(Column::name).toList();
        RecordLayout<T> layout =
                RecordLayout.of(
                        records.getType(), columns, List.of("id"), new SerializerConfigImpl());
        PackSpec packing =
                PackSpec.unpartitioned(
                        "facts",
                        ChunkDescriptor.FACTS,
                        (int) GpuJoinOptions.CHUNK_BYTES.defaultValue().getBytes(),
                        PackSpec.DEFAULT_FLUSH_INTERVAL);
        return records.transform(
                "pack",
                ChunkTypeInfo.of(layout.schema()),
                new PackOperator<>(layout, null, packing));
    }

    private static void countChunks(DataStream<Chunk> chunks) {
        int id = ((ChunkTypeInfo) chunks.getType()).schema().require("id");
        Counting.count(chunks, Chunk::rowCount, chunk -> sum(chunk, id));
    }

    private static long sum(Chunk chunk, int column) {
        long sum = 0;
        for (int row = 0; row < chunk.rowCount(); row++) {
            sum += chunk.getLong(column, row);
        }
        return sum;
    }
}
