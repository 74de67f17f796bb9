package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.handover.Handover;
import java.util.List;
import java.util.Optional;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;
import org.apache.flink.streaming.runtime.partitioner.ForwardPartitioner;

/** Takes facts from their edge, and those that a packer of this process hands over beside it. */
final class FactsReceiver implements AutoCloseable {

    private static final int FACT_INPUT = 2;

    private final Optional<Handover> handover;

    private FactsReceiver(Optional<Handover> handover) {
        this.handover = handover;
    }

    /**
     * @param inputs all edges into the operator
     */
    static FactsReceiver open(List<StreamEdge> inputs, StreamingRuntimeContext context) {
        return new FactsReceiver(
                inputs.stream()
                        .filter(FactsReceiver::mayHandOver)
                        .findFirst()
                        .map(
                                input ->
                                        Handover.open(
                                                new Handover.Edge(
                                                        context.getJobInfo().getJobId(),
                                                        input.getSourceId(),
                                                        context.getTaskInfo()
                                                                .getIndexOfThisSubtask()))));
    }

    private static boolean mayHandOver(StreamEdge input) {
        return input.getTypeNumber() == FACT_INPUT
                && input.getPartitioner() instanceof ForwardPartitioner
                && !input.supportsUnalignedCheckpoints();
    }

    Chunk received(Chunk arrived) {
        return handover.isPresent() ? handover.get().received(arrived) : arrived;
    }

    @Override
    public void close() {
        handover.ifPresent(Handover::close);
    }
}
