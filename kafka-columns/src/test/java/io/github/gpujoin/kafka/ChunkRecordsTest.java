// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.formats.record.BadRecordException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.serialization.DeserializationSchema.InitializationContext;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.util.SimpleUserCodeClassLoader;
import org.apache.flink.util.UserCodeClassLoader;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class ChunkRecordsTest {

    private static final ChunkSchema VALUES = ChunkSchema.of(Column.of("text", ColumnType.STRING));

    /** What was emitted: the split, if there is one, the timestamp, and the rows. */
    private record Emitted(String split, long timestamp, int rows) {}

    /** Keeps chunks; of a split too. */
    private static final class Output implements ReaderOutput<Chunk> {

        private final String split;
        private final List<Emitted> emitted;

        Output(String split, List<Emitted> emitted) {
            this.split = split;
            this.emitted = emitted;
        }

        @Override
        public void collect(Chunk chunk) {
            throw new AssertionError("without a timestamp");
        }

        @Override
        public void collect(Chunk chunk, long timestamp) {
            emitted.add(new Emitted(split, timestamp, chunk.rowCount()));
        }

        @Override
        public void emitWatermark(Watermark watermark) {}

        @Override
        public void markIdle() {}

        @Override
        public void markActive() {}

        @Override
        public SourceOutput<Chunk> createOutputForSplit(String splitId) {
            return new Output(splitId, emitted);
        }

        @Override
        public void releaseOutputForSplit(String splitId) {}
    }

    /** Texts as they are; "bad" is a bad record, and "broken" a fault of the format. */
    private static final RecordFormat TEXTS =
            schema ->
                    (value, row) -> {
                        String text = new String(value, StandardCharsets.UTF_8);
                        if (text.equals("bad")) {
                            throw new BadRecordException("it is bad");
                        } else if (text.equals("broken")) {
                            throw new IllegalStateException("format is broken");
                        }
                        row.putBytes(0, value, 0, value.length);
                    };

    private final List<Emitted> emitted = new ArrayList<>();

    /** What is added to Flink's own count of one record a chunk. */
    private final Counter recordsOut = new SimpleCounter();

    private ChunkRecords open(boolean skipsBadRecords, boolean hasOnePartitionAChunk)
            throws IOException {
        ChunkRecords records =
                new ChunkRecords(
                        TEXTS,
                        VALUES,
                        List.of(KafkaField.OFFSET),
                        List.of("offset"),
                        skipsBadRecords,
                        hasOnePartitionAChunk);
        records.open(
                new InitializationContext() {
                    @Override
                    public MetricGroup getMetricGroup() {
                        return new UnregisteredMetricsGroup();
                    }

                    @Override
                    public UserCodeClassLoader getUserCodeClassLoader() {
                        return SimpleUserCodeClassLoader.create(getClass().getClassLoader());
                    }
                });
        records.output(new Output("", emitted), recordsOut);
        return records;
    }

    private static void read(ChunkRecords records, int partition, long offset, String value)
            throws IOException {
        byte[] bytes = value == null ? null : value.getBytes(StandardCharsets.UTF_8);
        records.deserialize(
                new ConsumerRecord<>("orders", partition, offset, new byte[0], bytes), null);
    }

    @Test
    void shouldEmitARecordThatIsLargerThanAChunk() throws IOException {
        ChunkRecords records = open(false, false);
        records.startPoll();
        read(records, 0, 0, "small");
        assertThat(records.isPollFull()).isFalse();
        read(records, 0, 1, "x".repeat(3_000_000));
        assertThat(records.isPollFull()).isTrue();
        read(records, 0, 2, "small");
        records.flush();
        assertThat(emitted).extracting(Emitted::rows).containsExactly(2, 1);
    }

    @Test
    void shouldCountRowsInsteadOfChunks() throws IOException {
        ChunkRecords records = open(false, false);
        read(records, 0, 0, "a");
        read(records, 0, 1, "b");
        read(records, 0, 2, "c");
        records.flush();
        read(records, 0, 3, "d");
        records.flush();
        assertThat(emitted.size() + recordsOut.getCount()).isEqualTo(4);
    }

    @Test
    void shouldEmitChunksOfOnePartitionToItsSplit() throws IOException {
        ChunkRecords records = open(false, true);
        read(records, 0, 0, "a");
        read(records, 0, 1, "b");
        read(records, 1, 0, "c");
        read(records, 0, 2, "d");
        records.flush();
        records.flush();
        assertThat(emitted)
                .containsExactly(
                        new Emitted("orders-0", ConsumerRecord.NO_TIMESTAMP, 2),
                        new Emitted("orders-1", ConsumerRecord.NO_TIMESTAMP, 1),
                        new Emitted("orders-0", ConsumerRecord.NO_TIMESTAMP, 1));
    }

    @Test
    void shouldLeaveNothingOfTombstonesAndSkippedRecords() throws IOException {
        ChunkRecords records = open(true, false);
        read(records, 0, 0, "bad");
        read(records, 0, 1, null);
        records.flush();
        assertThat(emitted).isEmpty();
        read(records, 0, 2, "good");
        read(records, 0, 3, "bad");
        records.flush();
        assertThat(emitted).extracting(Emitted::rows).containsExactly(1);
    }

    @Test
    void shouldNameTheRecordOfAnyFault() throws IOException {
        ChunkRecords records = open(false, false);
        assertThatThrownBy(() -> read(records, 3, 7, "bad"))
                .hasMessage(
                        "A Kafka record cannot be read: topic=orders, partition=3, offset=7,"
                                + " cause=it is bad");
        ChunkRecords skipping = open(true, false);
        assertThatThrownBy(() -> read(skipping, 3, 8, "broken"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("partition=3, offset=8, cause=format is broken");
    }
}
