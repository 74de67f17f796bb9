// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.slot.SlotPool;
import io.github.gpujoin.flink.engine.RingMemory;
import io.github.gpujoin.flink.engine.SlotMemory;
import io.github.gpujoin.flink.exchange.local.LocalExchange;
import io.github.gpujoin.flink.exchange.local.OneToOneEdge;
import io.github.gpujoin.flink.exchange.ring.JoinSide;
import io.github.gpujoin.flink.exchange.ring.PayloadAccess;
import io.github.gpujoin.flink.exchange.ring.RingOptions;
import io.github.gpujoin.flink.exchange.ring.RingReceiver;
import io.github.gpujoin.flink.exchange.ring.RingSendPartitioner;
import io.github.gpujoin.flink.exchange.ring.RingTask;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.consumer.InputGate;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.runtime.partitioner.ForwardPartitioner;
import org.apache.flink.util.IOUtils;

/**
 * Receives the chunks of all edges into the join. An element is the chunk itself or a ticket, whose
 * payload arrives by local exchange from a packer of this process, or through a ring.
 */
final class ChunkReceiver implements AutoCloseable {

    /** As Flink numbers the inputs of an operator, from 1. */
    private static final int PROBE_INPUT = 2;

    /**
     * Slots of local exchange: those in flight on a GPU, those in the queue and those of the chunk
     * that the sender seals and of the one whose results are emitted.
     */
    private static final int EXCHANGE_SLOTS = 24;

    private final Optional<LocalExchange> exchange;
    private final Optional<RingReceiver> rings;
    private final RingShare ringMemory;
    private final RingMemory exchangeMemory;
    private final BooleanSupplier isCancelled;
    private final List<ResultPartitionID> factSenders;

    private ChunkReceiver(
            Optional<LocalExchange> exchange,
            Optional<RingReceiver> rings,
            RingShare ringMemory,
            RingMemory exchangeMemory,
            BooleanSupplier isCancelled,
            List<ResultPartitionID> factSenders) {
        this.factSenders = factSenders;
        this.exchange = exchange;
        this.rings = rings;
        this.ringMemory = ringMemory;
        this.exchangeMemory = exchangeMemory;
        this.isCancelled = isCancelled;
    }

    /**
     * @param inputs all edges into the operator, in the order of the task's input gates
     * @param coordinator of the operator
     * @param memory the subtask's share, in which rings and slots are reserved
     * @param isCancelled whether the task is cancelled
     * @throws IOException if the transport of the rings is not available
     */
    static ChunkReceiver open(
            List<StreamEdge> inputs,
            Environment task,
            RingOptions options,
            OperatorEventGateway coordinator,
            SlotMemory memory,
            BooleanSupplier isCancelled)
            throws IOException {
        Map<JoinSide, List<ExecutionAttemptID>> writers = Map.of();
        if (options.usesRings()) {
            writers = writers(inputs, task);
        }
        RingShare ringMemory = new RingShare(memory);
        Optional<RingReceiver> rings = Optional.empty();
        RingMemory exchangeMemory = null;
        try {
            if (!writers.isEmpty()) {
                rings = Optional.of(openRings(options, writers, task, coordinator, ringMemory));
            }
            Optional<OneToOneEdge> edge = exchangeEdge(inputs, task);
            exchangeMemory = RingMemory.tryReserve(memory, exchangeBytes(edge, options));
            boolean hasSlots = exchangeMemory.lengthBytes() > 0;
            return new ChunkReceiver(
                    edge.map(from -> openExchange(from, hasSlots ? options.payloadBytes() : 0)),
                    rings,
                    ringMemory,
                    exchangeMemory,
                    isCancelled,
                    factSenders(inputs, task));
        } catch (IOException | RuntimeException | Error e) {
            IOUtils.closeAllQuietly(rings.orElse(null), exchangeMemory);
            throw e;
        }
    }

    private static long exchangeBytes(Optional<OneToOneEdge> edge, RingOptions options) {
        return edge.isPresent()
                ? Region.allocatedBytes(
                        SlotPool.lengthBytes(EXCHANGE_SLOTS, options.payloadBytes()))
                : 0;
    }

    /**
     * Opens the receiving end of a local exchange.
     *
     * @param slotBytes of its slots, whose memory is reserved; 0 if it has none
     */
    private static LocalExchange openExchange(OneToOneEdge edge, int slotBytes) {
        if (slotBytes == 0) {
            return LocalExchange.open(edge, null);
        }
        SlotPool slots = new SlotPool(Allocator.unlimited(), EXCHANGE_SLOTS, slotBytes);
        try {
            return LocalExchange.open(edge, slots);
        } catch (RuntimeException e) {
            slots.close();
            throw e;
        }
    }

    private static RingReceiver openRings(
            RingOptions options,
            Map<JoinSide, List<ExecutionAttemptID>> writers,
            Environment task,
            OperatorEventGateway coordinator,
            RingShare memory)
            throws IOException {
        RingReceiver rings =
                RingReceiver.open(options, writers, RingTask.of(task), coordinator, memory);
        rings.countWaits(task.getMetricGroup().getIOMetricGroup().getIdleTimeMsPerSecond());
        return rings;
    }

    private static List<ResultPartitionID> factSenders(List<StreamEdge> inputs, Environment task) {
        List<ResultPartitionID> senders = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            if (inputs.get(i).getTypeNumber() == PROBE_INPUT) {
                senders.addAll(partitions(task.getInputGate(i)));
            }
        }
        return senders;
    }

    /** The result partition of each channel of a gate. */
    private static List<ResultPartitionID> partitions(InputGate gate) {
        return IntStream.range(0, gate.getNumberOfInputChannels())
                .mapToObj(channel -> gate.getChannel(channel).getPartitionId())
                .toList();
    }

    /** Managed memory of the rings that this subtask pays for. */
    long ringBytes() {
        return ringMemory.lengthBytes();
    }

    /** Managed memory of the slots of local exchange. */
    long exchangeBytes() {
        return exchangeMemory.lengthBytes();
    }

    /** The result partition of each channel of facts. */
    List<ResultPartitionID> factSenders() {
        return factSenders;
    }

    /** Returns the facts' edge, if it permits a local exchange. */
    private static Optional<OneToOneEdge> exchangeEdge(List<StreamEdge> inputs, Environment task) {
        for (int i = 0; i < inputs.size(); i++) {
            if (mayExchangeLocally(inputs.get(i))) {
                return OneToOneEdge.into(task.getInputGate(i));
            }
        }
        return Optional.empty();
    }

    private static boolean mayExchangeLocally(StreamEdge input) {
        return input.getTypeNumber() == PROBE_INPUT
                && input.getPartitioner() instanceof ForwardPartitioner
                && !input.supportsUnalignedCheckpoints();
    }

    /** Attempts of the subtasks that send chunks of each side by partition, in their order. */
    private static Map<JoinSide, List<ExecutionAttemptID>> writers(
            List<StreamEdge> inputs, Environment task) {
        Map<JoinSide, List<ExecutionAttemptID>> writers = new EnumMap<>(JoinSide.class);
        for (int i = 0; i < inputs.size(); i++) {
            StreamEdge input = inputs.get(i);
            if (input.getPartitioner() instanceof RingSendPartitioner send) {
                requireAligned(input);
                writers.put(
                        send.side(),
                        partitions(task.getInputGate(i)).stream()
                                .map(ResultPartitionID::getProducerId)
                                .toList());
            }
        }
        return writers;
    }

    /** A restored ticket would refer to a ring that no longer exists. */
    private static void requireAligned(StreamEdge input) {
        if (input.supportsUnalignedCheckpoints()) {
            throw new IllegalStateException(
                    "Edge with rings is checkpointed unaligned: edge=%s. Report this."
                            .formatted(input));
        }
    }

    /** A chunk of the build side. */
    Chunk build(Chunk arrived) throws IOException {
        return rings.isPresent()
                ? rings.get().received(arrived, PayloadAccess.COPY, isCancelled)
                : arrived;
    }

    /** A chunk of the probe side, whose user is the caller. */
    Chunk probe(Chunk arrived, PayloadAccess access) throws IOException {
        if (exchange.isPresent() && LocalExchange.mayReceive(arrived)) {
            Chunk chunk = exchange.get().received(arrived);
            return access == PayloadAccess.COPY ? copied(chunk) : chunk;
        }
        return rings.isPresent()
                ? rings.get().received(arrived, access, isCancelled)
                : LocalExchange.receivedWithout(arrived);
    }

    private static Chunk copied(Chunk chunk) {
        try {
            return chunk.onHeap();
        } finally {
            chunk.release();
        }
    }

    /** Bytes of payloads that the CPU copied out of rings. */
    long payloadBytesCopied() {
        return rings.map(RingReceiver::payloadBytesCopied).orElse(0L);
    }

    /** Slots of rings for which writers of facts have no credit. */
    int heldSlots() {
        return rings.map(RingReceiver::heldSlots).orElse(0);
    }

    /** Whether the rings of facts have room for more than what is in use. */
    boolean hasRoom() {
        return rings.isEmpty() || rings.get().hasRoom();
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(rings.orElse(null), exchange.orElse(null), exchangeMemory);
    }
}
