// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.JobPlan.Vertex;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventDispatcher;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.OperatorEventHandler;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.api.operators.BoundedMultiInput;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFinalizer;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperatorFactoryUtil;
import org.apache.flink.streaming.api.operators.StreamTaskStateInitializer;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.StreamTask;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.SerializedValue;

/** The real operators of one subtask of a vertex, chained as Flink chains them. */
final class OperatorChain implements AutoCloseable {

    private static final int MAX_STATE_BYTES = 16 << 20;

    private final Vertex vertex;
    private final StreamTask<?, ?> task;
    private final UnaryOperator<StreamOperatorFactory<Object>> devices;
    private final Function<StreamEdge, ChainOutput.Target> network;
    private final ChainOutput.Target sink;

    /** From the last operator to the first, as Flink opens them. */
    private final List<StreamOperator<?>> operators = new ArrayList<>();

    private final ChainOutput.Target head;

    /**
     * @param devices puts the life's devices into a join
     * @param network makes the end of an edge to another task
     * @param sink takes what the job's sink gets
     */
    OperatorChain(
            Vertex vertex,
            StreamTask<?, ?> task,
            UnaryOperator<StreamOperatorFactory<Object>> devices,
            Function<StreamEdge, ChainOutput.Target> network,
            ChainOutput.Target sink) {
        this.vertex = vertex;
        this.task = task;
        this.devices = devices;
        this.network = network;
        this.sink = sink;
        this.head = vertex.isSource() ? source() : target(vertex.head());
    }

    /** Of a source that the simulation plays. */
    private ChainOutput.Target source() {
        ChainOutput output = outputOf(vertex.head());
        return element -> {
            if (element.isRecord()) {
                output.collect(element.asRecord());
            } else if (element.isWatermark()) {
                output.emitWatermark(element.asWatermark());
            } else {
                output.emitWatermarkStatus(element.asWatermarkStatus());
            }
        };
    }

    private ChainOutput.Target target(int node) {
        StreamConfig config = vertex.operator(node);
        if (config.getOperatorName().equals(JobPlan.SINK)) {
            return sink;
        }
        StreamOperator<?> operator = create(config, outputOf(node));
        operators.add(operator);
        return operator instanceof OneInputStreamOperator<?, ?> input
                ? ChainOutput.next(input)
                : element -> {
                    throw new AssertionError("inputs of a task give elements to its operator");
                };
    }

    private ChainOutput outputOf(int node) {
        List<ChainOutput.Edge> edges = new ArrayList<>();
        for (StreamEdge edge : vertex.out()) {
            if (edge.getSourceId() == node) {
                edges.add(new ChainOutput.Edge(edge.getOutputTag(), network.apply(edge)));
            }
        }
        for (StreamEdge edge : vertex.operator(node).getChainedOutputs(loader())) {
            edges.add(new ChainOutput.Edge(edge.getOutputTag(), target(edge.getTargetId())));
        }
        return new ChainOutput(edges);
    }

    private static ClassLoader loader() {
        return OperatorChain.class.getClassLoader();
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private StreamOperator<?> create(StreamConfig config, ChainOutput output) {
        StreamOperatorFactory<Object> factory =
                devices.apply(config.getStreamOperatorFactory(loader()));
        return (StreamOperator<?>)
                StreamOperatorFactoryUtil.createOperator(
                                factory,
                                (StreamTask) task,
                                config,
                                (Output<StreamRecord<Object>>) output,
                                new Coordinators(task))
                        .f0;
    }

    /** Where a source's elements go in. */
    ChainOutput.Target head() {
        return head;
    }

    /** The first operator of a task with inputs; null where that is the sink. */
    StreamOperator<?> first() {
        return operators.isEmpty() ? null : operators.get(operators.size() - 1);
    }

    void open(StreamTaskStateInitializer states) throws Exception {
        for (StreamOperator<?> operator : operators) {
            operator.initializeState(states);
            operator.open();
        }
    }

    void prepareSnapshot(long checkpoint) throws Exception {
        for (int i = operators.size() - 1; i >= 0; i--) {
            operators.get(i).prepareSnapshotPreBarrier(checkpoint);
        }
    }

    Map<OperatorID, OperatorSubtaskState> snapshot(long checkpoint) throws Exception {
        Map<OperatorID, OperatorSubtaskState> states = new LinkedHashMap<>();
        for (StreamOperator<?> operator : operators) {
            OperatorSnapshotFinalizer snapshot =
                    OperatorSnapshotFinalizer.create(
                            operator.snapshotState(
                                    checkpoint,
                                    VirtualTime.nowMs(),
                                    CheckpointOptions.forCheckpointWithDefaultLocation(),
                                    new MemCheckpointStreamFactory(MAX_STATE_BYTES)));
            states.put(operator.getOperatorID(), snapshot.getJobManagerOwnedState());
        }
        return states;
    }

    void complete(long checkpoint) throws Exception {
        for (StreamOperator<?> operator : operators) {
            operator.notifyCheckpointComplete(checkpoint);
        }
    }

    /**
     * Ends an input of the first operator.
     *
     * @param input from 1
     */
    void endInput(int input) throws Exception {
        end(first(), input);
    }

    private static void end(StreamOperator<?> operator, int input) throws Exception {
        if (operator instanceof BoundedMultiInput bounded) {
            bounded.endInput(input);
        } else if (operator instanceof BoundedOneInput bounded) {
            bounded.endInput();
        }
    }

    /** Finishes all operators, each behind the one before it. */
    void finish(Runnable mails) throws Exception {
        for (int i = operators.size() - 1; i >= 0; i--) {
            if (vertex.isSource() || i < operators.size() - 1) {
                end(operators.get(i), 1);
            }
            operators.get(i).finish();
            mails.run();
        }
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(
                operators.stream().map(operator -> (AutoCloseable) operator::close).toList());
        operators.clear();
    }

    private record Coordinators(StreamTask<?, ?> task) implements OperatorEventDispatcher {
        @Override
        public void registerEventHandler(OperatorID operator, OperatorEventHandler handler) {}

        @Override
        public OperatorEventGateway getOperatorEventGateway(OperatorID operator) {
            return event -> send(operator, event);
        }

        private void send(OperatorID operator, OperatorEvent event) {
            try {
                task.getEnvironment()
                        .getOperatorCoordinatorEventGateway()
                        .sendOperatorEventToCoordinator(operator, new SerializedValue<>(event));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
