// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import io.github.gpujoin.core.layout.Chunk;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.metrics.Counter;
import org.jspecify.annotations.Nullable;

/**
 * Flink's Kafka reader, polled for the records of a chunk at a time. No row is left in a chunk when
 * {@link #pollNext} returns, so the offsets of a snapshot, which the task takes between two calls,
 * are those of the rows that were emitted.
 */
final class ChunkReader implements SourceReader<Chunk, KafkaPartitionSplit> {

    /**
     * Bounds, with a chunk's size, the time in which the task reads no mail, and with it the delay
     * of a barrier.
     */
    static final int RECORDS_A_POLL = 16_384;

    private final SourceReader<Chunk, KafkaPartitionSplit> kafka;
    private final ChunkRecords records;
    private final Counter recordsOut;
    private @Nullable FlushingOutput output;

    ChunkReader(
            SourceReader<Chunk, KafkaPartitionSplit> kafka,
            ChunkRecords records,
            Counter recordsOut) {
        this.kafka = kafka;
        this.records = records;
        this.recordsOut = recordsOut;
    }

    @Override
    public void start() {
        kafka.start();
    }

    @Override
    public InputStatus pollNext(ReaderOutput<Chunk> target) throws Exception {
        FlushingOutput flushing = output;
        if (flushing == null || flushing.target != target) {
            flushing = new FlushingOutput(target, records);
            output = flushing;
            records.output(target, recordsOut);
        }
        records.startPoll();
        InputStatus status = InputStatus.MORE_AVAILABLE;
        for (int i = 0; i < RECORDS_A_POLL && !records.isPollFull(); i++) {
            status = kafka.pollNext(flushing);
            if (status != InputStatus.MORE_AVAILABLE) {
                break;
            }
        }
        records.flush();
        return status;
    }

    @Override
    public List<KafkaPartitionSplit> snapshotState(long checkpointId) {
        return kafka.snapshotState(checkpointId);
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        return kafka.isAvailable();
    }

    @Override
    public void addSplits(List<KafkaPartitionSplit> splits) {
        kafka.addSplits(splits);
    }

    @Override
    public void notifyNoMoreSplits() {
        kafka.notifyNoMoreSplits();
    }

    @Override
    public void handleSourceEvents(SourceEvent sourceEvent) {
        kafka.handleSourceEvents(sourceEvent);
    }

    @Override
    public void pauseOrResumeSplits(
            Collection<String> splitsToPause, Collection<String> splitsToResume) {
        kafka.pauseOrResumeSplits(splitsToPause, splitsToResume);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        kafka.notifyCheckpointComplete(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        kafka.notifyCheckpointAborted(checkpointId);
    }

    @Override
    public void close() throws Exception {
        kafka.close();
    }

    /** Emits the rows of a split before its output, and so its watermark, is released. */
    private record FlushingOutput(ReaderOutput<Chunk> target, ChunkRecords records)
            implements ReaderOutput<Chunk> {

        @Override
        public void releaseOutputForSplit(String splitId) {
            records.flush();
            target.releaseOutputForSplit(splitId);
        }

        @Override
        public SourceOutput<Chunk> createOutputForSplit(String splitId) {
            return target.createOutputForSplit(splitId);
        }

        @Override
        public void collect(Chunk chunk) {
            target.collect(chunk);
        }

        @Override
        public void collect(Chunk chunk, long timestamp) {
            target.collect(chunk, timestamp);
        }

        @Override
        public void emitWatermark(Watermark watermark) {
            target.emitWatermark(watermark);
        }

        @Override
        public void markIdle() {
            target.markIdle();
        }

        @Override
        public void markActive() {
            target.markActive();
        }
    }
}
