// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.backpressure;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.runtime.io.network.buffer.BufferPool;
import org.apache.flink.runtime.io.network.partition.PipelinedResultPartition;
import org.apache.flink.streaming.api.graph.NonChainedOutput;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.OutputTag;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * The output of the last operator of a chain, which receivers in the same process can pause ({@link
 * InputHold}). A paused task still emits in timers and before a barrier, into overdraft buffers.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class HoldableOutput<T> implements Output<T>, AutoCloseable {

    private record Held(OutputHold hold, BufferPool pool) {}

    private final Output<T> output;
    private final List<Held> partitions;
    private boolean emits;

    private HoldableOutput(Output<T> output, List<Held> partitions) {
        this.output = output;
        this.partitions = partitions;
    }

    /**
     * Wraps an output. Receivers can then pause each partition that the operator writes, side
     * outputs included.
     *
     * @param operator owner of the output
     */
    public static <T> HoldableOutput<T> of(
            Output<T> output, StreamConfig operator, Environment task, ClassLoader classes) {
        List<Held> partitions = new ArrayList<>();
        for (NonChainedOutput edge : operator.getOperatorNonChainedOutputs(classes)) {
            for (ResultPartitionWriter writer : task.getAllWriters()) {
                if (writer instanceof PipelinedResultPartition partition
                        && edge.getDataSetId()
                                .equals(
                                        partition
                                                .getPartitionId()
                                                .getPartitionId()
                                                .getIntermediateDataSetID())) {
                    partitions.add(
                            new Held(
                                    OutputHold.of(partition.getPartitionId()),
                                    partition.getBufferPool()));
                }
            }
        }
        if (task.getAllInputGates().length == 0) {
            partitions.forEach(held -> held.hold().holdSource());
        }
        return new HoldableOutput<>(output, partitions);
    }

    /**
     * Emits the rows before a barrier, and marks the barrier as passed.
     *
     * @param checkpoint of the barrier
     * @param emission emits all rows before the barrier
     */
    public void emitBeforeBarrier(long checkpoint, ThrowingRunnable<Exception> emission)
            throws Exception {
        emit(
                () -> {
                    emission.run();
                    partitions.forEach(held -> held.hold().passed(checkpoint));
                });
    }

    private <E extends Exception> void emit(ThrowingRunnable<E> emission) throws E {
        if (emits) {
            emission.run();
            return;
        }
        emits = true;
        partitions.forEach(held -> held.hold().beginEmission(held.pool()));
        try {
            emission.run();
        } finally {
            partitions.forEach(held -> held.hold().endEmission(held.pool()));
            emits = false;
        }
    }

    @Override
    public void collect(T element) {
        emit(() -> output.collect(element));
    }

    @Override
    public <X> void collect(OutputTag<X> tag, StreamRecord<X> element) {
        emit(() -> output.collect(tag, element));
    }

    @Override
    public void emitWatermark(Watermark mark) {
        emit(() -> output.emitWatermark(mark));
    }

    @Override
    public void emitWatermark(WatermarkEvent watermark) {
        emit(() -> output.emitWatermark(watermark));
    }

    @Override
    public void emitWatermarkStatus(WatermarkStatus status) {
        emit(() -> output.emitWatermarkStatus(status));
    }

    @Override
    public void emitLatencyMarker(LatencyMarker marker) {
        emit(() -> output.emitLatencyMarker(marker));
    }

    @Override
    public void emitRecordAttributes(RecordAttributes attributes) {
        emit(() -> output.emitRecordAttributes(attributes));
    }

    /** Ends all holds; Flink closes the output itself. */
    public void release() throws Exception {
        List<OutputHold> holds = partitions.stream().map(Held::hold).toList();
        IOUtils.closeAll(holds);
    }

    @Override
    public void close() {
        output.close();
    }
}
