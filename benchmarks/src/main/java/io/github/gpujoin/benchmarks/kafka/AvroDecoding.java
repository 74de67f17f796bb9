// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.kafka;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.formats.record.RowWriter;
import io.github.gpujoin.kafka.RecordDecoder;
import io.github.gpujoin.kafka.avro.AvroFormat;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.formats.avro.AvroDeserializationSchema;

/** Decodes values that are in memory, without Kafka and without a job. */
public enum AvroDecoding {
    /** Values are written into chunks of all columns. */
    OURS_CHUNKS {
        @Override
        Decoding open() throws IOException {
            return chunks(Orders.COLUMNS);
        }
    },
    /** The same for four of the ten columns. */
    OURS_FOUR_COLUMNS {
        @Override
        Decoding open() throws IOException {
            return chunks(Orders.FEW_COLUMNS);
        }
    },
    /** Flink SQL's Avro format. */
    FLINK_ROWDATA {
        @Override
        Decoding open() throws Exception {
            return records(KafkaJob.rowDataFormat());
        }
    },
    /** Flink's Avro format of the DataStream API. */
    FLINK_GENERIC {
        @Override
        Decoding open() throws Exception {
            return records(AvroDeserializationSchema.forGeneric(Orders.SCHEMA));
        }
    };

    private static final int VALUES = 1 << 14;
    private static final int CHUNK_BYTES = 256 << 10;

    /** Decodes one value, and returns a number that depends on it. */
    interface Decoding {
        long decode(byte[] value) throws IOException;
    }

    abstract Decoding open() throws Exception;

    /** Name in reports. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static Decoding chunks(ChunkSchema columns) throws IOException {
        ChunkBuilder builder = new ChunkBuilder(columns, CHUNK_BYTES);
        RowWriter row = new RowWriter(builder);
        RecordDecoder decoder = AvroFormat.of(Orders.SCHEMA).open(columns);
        return value -> {
            row.begin();
            decoder.decode(value, row);
            row.end();
            return builder.isFull()
                    ? builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0)
                            .rowCount()
                    : 0;
        };
    }

    private static Decoding records(DeserializationSchema<?> format) throws Exception {
        format.open(null);
        return value -> format.deserialize(value) == null ? 0 : 1;
    }

    /** Returns the nanoseconds of CPU that a value costs, in the fastest of some rounds. */
    public double cpuNsPerValue(int rounds) throws Exception {
        byte[][] values = new byte[VALUES][];
        Orders orders = new Orders();
        for (int id = 0; id < VALUES; id++) {
            values[id] = orders.value(id);
        }
        Decoding decoding = open();
        long best = Long.MAX_VALUE;
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            for (byte[] value : values) {
                sum += decoding.decode(value);
            }
            long end = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            best = Math.min(best, end - start);
        }
        if (sum == 0) {
            throw new IllegalStateException("Nothing was decoded: contender=" + label());
        }
        return (double) best / VALUES;
    }
}
