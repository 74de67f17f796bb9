// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.engine.AssignedGpu;
import io.github.gpujoin.flink.engine.EngineStatus;
import io.github.gpujoin.flink.engine.SlotMemory;
import io.github.gpujoin.flink.exchange.RowCountingOutput;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.exchange.backpressure.InputHold;
import io.github.gpujoin.flink.exchange.ring.AnnouncedCheckpoints;
import io.github.gpujoin.flink.exchange.ring.PayloadAccess;
import io.github.gpujoin.flink.metrics.JoinMetrics;
import io.github.gpujoin.flink.record.ChunkSerializer;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/** Receives the chunks of both inputs of a subtask, checks and counts them. */
final class SubtaskInputs implements AutoCloseable {

    private final SlotMemory memory;
    private final ChunkReceiver chunks;
    private final ArrivingColumnCheck arriving;
    private final RowCounts rows;
    private final AnnouncedCheckpoints checkpoints;
    private final InputHold senders;

    private SubtaskInputs(SubtaskContext subtask, SlotMemory memory, ChunkReceiver chunks) {
        this.memory = memory;
        this.chunks = chunks;
        this.arriving = new ArrivingColumnCheck(subtask.settings().columns());
        this.rows = new RowCounts(subtask.operator());
        this.checkpoints =
                new AnnouncedCheckpoints(
                        subtask.environment().getOperatorCoordinatorEventGateway(),
                        subtask.operator().getOperatorID(),
                        subtask.task().getIndexOfThisSubtask());
        this.senders =
                new InputHold(
                        chunks.factSenders(),
                        () -> checkpoints.announced(ProbeBackpressure.MAX_WAIT_MS));
    }

    /**
     * Opens the transports of all edges into the subtask.
     *
     * @throws IOException if the transport of the rings is not available
     */
    static SubtaskInputs open(SubtaskContext subtask, AssignedGpu gpu) throws IOException {
        SlotMemory memory = SlotMemory.of(subtask.environment(), subtask.config());
        ChunkReceiver chunks =
                ChunkReceiver.open(
                        subtask.config().getInPhysicalEdges(subtask.userCode()),
                        subtask.environment(),
                        subtask.settings().rings().onDevice(gpu::numberOr),
                        subtask.coordinator(),
                        memory,
                        subtask::isCancelled);
        try {
            return new SubtaskInputs(subtask, memory, chunks);
        } catch (RuntimeException e) {
            IOUtils.closeQuietly(chunks);
            throw e;
        }
    }

    /** The output, which counts rows instead of chunks if the results are chunks. */
    <OUT> Output<StreamRecord<OUT>> counted(
            SubtaskContext subtask, Output<StreamRecord<OUT>> output) {
        TypeSerializer<?> results = subtask.config().getTypeSerializerOut(subtask.userCode());
        return results instanceof ChunkSerializer ? new RowCountingOutput<>(output, rows) : output;
    }

    /** The part of the subtask's managed memory that rings and slots do not use. */
    SlotMemory tableMemory(long limitBytes) {
        return memory.forTables(chunks.ringBytes() + chunks.exchangeBytes(), limitBytes);
    }

    /** Registers the memory of rings and slots, and what the CPU copied out of them. */
    void register(JoinMetrics metrics, EngineStatus engine) {
        metrics.slots(
                chunks.ringBytes(),
                chunks.exchangeBytes(),
                chunks::payloadBytesCopied,
                chunks::heldSlots,
                engine);
    }

    /** Number of channels of facts. */
    int factChannelCount() {
        return chunks.factSenders().size();
    }

    /** The result partition of each channel of facts. */
    List<ResultPartitionID> factSenders() {
        return chunks.factSenders();
    }

    /** Whether the rings of facts have room for more than what is in use. */
    boolean ringsHaveRoom() {
        return chunks.hasRoom();
    }

    InputHold senders() {
        return senders;
    }

    AnnouncedCheckpoints checkpoints() {
        return checkpoints;
    }

    RowCounts rows() {
        return rows;
    }

    /** The payload of a chunk of a dimension. */
    Chunk receiveBuild(Chunk sent) throws IOException {
        return received(chunks.build(sent), sent);
    }

    /** The payload of a chunk of facts, or of versions. The caller is its user. */
    Chunk receiveProbe(Chunk sent, PayloadAccess access) throws IOException {
        return received(chunks.probe(sent, access), sent);
    }

    private Chunk received(Chunk chunk, Chunk sent) {
        try {
            arriving.check(chunk);
        } catch (RuntimeException e) {
            chunk.release();
            throw e;
        }
        rows.received(chunk, sent);
        return chunk;
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(checkpoints, senders, chunks);
    }
}
