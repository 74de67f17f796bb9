package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.handover.Handover;
import io.github.gpujoin.flink.transport.JoinSide;
import io.github.gpujoin.flink.transport.RingOptions;
import io.github.gpujoin.flink.transport.RingReceiver;
import io.github.gpujoin.flink.transport.SendPartitioner;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.runtime.partitioner.ForwardPartitioner;
import org.apache.flink.util.IOUtils;

/**
 * Takes chunks from the edges into the join, and those that travel beside them: handed over by
 * packers of this process, or through rings from other subtasks.
 */
final class ChunkReceiver implements AutoCloseable {

    /** As Flink numbers the inputs of an operator, from 1. */
    private static final int PROBE_INPUT = 2;

    private final Optional<Handover> handover;
    private final Optional<RingReceiver> rings;
    private final BooleanSupplier cancelled;

    private ChunkReceiver(
            Optional<Handover> handover, Optional<RingReceiver> rings, BooleanSupplier cancelled) {
        this.handover = handover;
        this.rings = rings;
        this.cancelled = cancelled;
    }

    /**
     * @param inputs all edges into the operator, in the order of the task's input gates
     * @param coordinator of the operator
     * @param cancelled whether the task is
     * @throws IOException where the rings' transport cannot be had
     */
    static ChunkReceiver open(
            List<StreamEdge> inputs,
            Environment task,
            RingOptions options,
            OperatorEventGateway coordinator,
            BooleanSupplier cancelled)
            throws IOException {
        Optional<RingReceiver> rings = Optional.empty();
        Map<JoinSide, Integer> writers = new EnumMap<>(JoinSide.class);
        if (options.usesRings()) {
            writers = writers(inputs, task);
        }
        if (!writers.isEmpty()) {
            rings =
                    Optional.of(
                            RingReceiver.open(
                                    options,
                                    writers,
                                    task.getJobInfo(),
                                    task.getTaskInfo(),
                                    task.getTaskManagerInfo().getConfiguration(),
                                    coordinator));
        }
        return new ChunkReceiver(handover(inputs, task), rings, cancelled);
    }

    private static Optional<Handover> handover(List<StreamEdge> inputs, Environment task) {
        return inputs.stream()
                .filter(ChunkReceiver::mayHandOver)
                .findFirst()
                .map(
                        input ->
                                Handover.open(
                                        new Handover.Edge(
                                                task.getJobInfo().getJobId(),
                                                input.getSourceId(),
                                                task.getTaskInfo().getIndexOfThisSubtask())));
    }

    private static boolean mayHandOver(StreamEdge input) {
        return input.getTypeNumber() == PROBE_INPUT
                && input.getPartitioner() instanceof ForwardPartitioner
                && !input.supportsUnalignedCheckpoints();
    }

    /** Number of subtasks that send chunks of each side by partition. */
    private static Map<JoinSide, Integer> writers(List<StreamEdge> inputs, Environment task) {
        Map<JoinSide, Integer> writers = new EnumMap<>(JoinSide.class);
        for (int i = 0; i < inputs.size(); i++) {
            StreamEdge input = inputs.get(i);
            if (input.getPartitioner() instanceof SendPartitioner send) {
                requireAligned(input);
                writers.put(send.side(), task.getInputGate(i).getNumberOfInputChannels());
            }
        }
        return writers;
    }

    /** A ticket in a snapshot would be for a ring that is gone when the snapshot is restored. */
    private static void requireAligned(StreamEdge input) {
        if (input.supportsUnalignedCheckpoints()) {
            throw new IllegalStateException(
                    "an edge with rings is checkpointed aligned only: edge=" + input);
        }
    }

    /** A chunk of the build side. */
    Chunk build(Chunk arrived) throws IOException {
        return rings.isPresent() ? rings.get().received(arrived, cancelled) : arrived;
    }

    /** A chunk of the probe side. */
    Chunk probe(Chunk arrived) throws IOException {
        if (handover.isPresent()) {
            return handover.get().received(arrived);
        }
        return rings.isPresent() ? rings.get().received(arrived, cancelled) : arrived;
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(rings.orElse(null), handover.orElse(null));
    }
}
