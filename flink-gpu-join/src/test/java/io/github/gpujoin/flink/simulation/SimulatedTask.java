// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.Checkpoint.ChannelId;
import io.github.gpujoin.flink.simulation.Checkpoint.TaskId;
import io.github.gpujoin.flink.simulation.Checkpoint.TaskState;
import io.github.gpujoin.flink.simulation.JobPlan.Vertex;
import io.github.gpujoin.flink.simulation.SimulatedChannel.EndOfData;
import io.github.gpujoin.flink.simulation.SimulatedChannel.EndOfPartition;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SubTaskInitializationMetricsBuilder;
import org.apache.flink.runtime.checkpoint.TaskStateSnapshot;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.streaming.api.operators.InternalTimeServiceManagerImpl;
import org.apache.flink.streaming.api.operators.StreamTaskStateInitializerImpl;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.tasks.StreamTaskCancellationContext;
import org.apache.flink.streaming.util.MockStreamTask;

/** One attempt of a subtask: Flink's task loop around a chain of real operators. */
final class SimulatedTask implements TaskInputs.Listener, AutoCloseable {

    /** States of a task, in order. */
    enum Phase {
        RUNNING,
        /** Its operators have finished; it waits for a checkpoint that says so. */
        FINISHED,
        ENDED
    }

    /** What a task tells the JobManager. */
    interface Acks {
        void acknowledge(SimulatedTask task, long checkpoint, TaskState state);
    }

    final Vertex vertex;
    final TaskId id;
    private final Acks acks;
    private final SinkResults.Attempt sink;
    private final List<NetworkOutput> outputs;
    private final boolean deployedFinished;
    private final TaskThread thread = new TaskThread();
    private final SimulatedEnvironment environment;
    private final OperatorChain chain;
    private TaskInputs inputs;
    private SimulatedSource source;
    private int burst;
    private Phase phase = Phase.RUNNING;

    /** The checkpoint to start, 0 for none. */
    private long trigger;

    private boolean unalignedTrigger;
    private long finalCheckpoint = Long.MAX_VALUE;
    private boolean finalCheckpointComplete;

    /** Of the last checkpoint. */
    private TaskState state;

    private long lastSnapshot;

    private boolean drained = true;

    /** Checkpoints that are complete, of which the task is to be told. */
    private final ArrayDeque<Long> completions = new ArrayDeque<>();

    /**
     * @param outputs of the vertex' edges, in their order
     * @param restored state of its operators; null where they start from nothing
     * @param deployedFinished whether all subtasks of the vertex had finished in the checkpoint
     */
    SimulatedTask(
            Configuration job,
            Vertex vertex,
            TaskId id,
            int parallelism,
            int attempt,
            List<SimulatedEnvironment.Input> inputEdges,
            List<SimulatedEnvironment.Output> outputEdges,
            List<NetworkOutput> outputs,
            Map<OperatorID, OperatorSubtaskState> restored,
            boolean deployedFinished,
            SinkResults.Attempt sink,
            LifeSetting setting,
            Acks acks)
            throws Exception {
        this.vertex = vertex;
        this.id = id;
        this.acks = acks;
        this.sink = sink;
        this.outputs = outputs;
        this.deployedFinished = deployedFinished;
        thread.advanceTimers();
        TestTaskStateManager states = new TestTaskStateManager();
        if (restored != null) {
            states.restoreLatestCheckpointState(Map.of(1L, new TaskStateSnapshot(restored)));
        }
        environment =
                new SimulatedEnvironment(
                        job,
                        vertex.name(),
                        vertex.id(),
                        id.subtask(),
                        parallelism,
                        vertex.maxParallelism(),
                        attempt,
                        inputEdges,
                        outputEdges,
                        states,
                        setting.coordinators().gateway(id.subtask(), attempt));
        MockStreamTask<?, ?> task = thread.task(environment, vertex.operator(vertex.head()));
        chain =
                new OperatorChain(
                        vertex,
                        task,
                        setting::withDevices,
                        edge ->
                                outputs.stream()
                                        .filter(output -> output.edge() == edge)
                                        .findFirst()
                                        .orElseThrow(),
                        element -> sink.accept(id.subtask(), element));
        if (!deployedFinished) {
            chain.open(
                    new StreamTaskStateInitializerImpl(
                            environment,
                            setting.stateBackend(),
                            new SubTaskInitializationMetricsBuilder(0),
                            TtlTimeProvider.DEFAULT,
                            InternalTimeServiceManagerImpl::create,
                            StreamTaskCancellationContext.alwaysRunning()));
        }
    }

    void play(
            List<Split> splits,
            Map<Integer, Integer> positions,
            boolean bounded,
            boolean repeats,
            int burst) {
        this.burst = burst;
        source = new SimulatedSource(splits, positions, bounded, repeats, chain.head());
    }

    /** Connects the inputs; to be called once, in a task that is no source. */
    TaskInputs connect(boolean blocksForBarriers) {
        inputs = new TaskInputs(blocksForBarriers, this);
        ChainInputs.of(chain, deployedFinished).forEach(inputs::addSide);
        return inputs;
    }

    Phase phase() {
        return phase;
    }

    boolean isRunnable() {
        return phase != Phase.ENDED
                && (trigger != 0
                        || !completions.isEmpty()
                        || thread.hasMail()
                        || thread.hasDueTimer()
                        || hasRoom() && hasInput()
                        || mayEnd());
    }

    /** Whether there is something to do besides checkpoints. */
    boolean hasWork() {
        return thread.hasMail() || thread.hasDueTimer() || hasRoom() && hasData();
    }

    /** Whether there is something to read or emit. */
    boolean hasData() {
        return source == null ? inputs.hasReadableData() : hasInput();
    }

    /** Whether the task is a source with elements of its own. */
    boolean isEmitting() {
        return phase == Phase.RUNNING && !deployedFinished;
    }

    /** Returns when the task's next timer is due, or the largest number if it has none. */
    long nextTimerMs() {
        return thread.nextTimerMs();
    }

    private boolean hasRoom() {
        return outputs.stream().allMatch(NetworkOutput::hasRoom);
    }

    private boolean hasInput() {
        if (source == null) {
            return inputs.hasReadable();
        }
        return phase == Phase.RUNNING && (deployedFinished || source.hasNext() || source.isOver());
    }

    private boolean mayEnd() {
        return phase == Phase.FINISHED
                && finalCheckpointComplete
                && (source != null || inputs.isEnded())
                && outputs.stream().allMatch(NetworkOutput::isEmpty);
    }

    /** One iteration of the loop: mails, then one element. */
    void step(Choices choices) throws Exception {
        thread.advanceTimers();
        thread.runBatch();
        while (!completions.isEmpty()) {
            complete(completions.remove());
        }
        if (trigger != 0) {
            long checkpoint = trigger;
            trigger = 0;
            if (source == null) {
                inputs.startHere(checkpoint);
            } else {
                onSnapshot(checkpoint, unalignedTrigger);
                onBarriersComplete(checkpoint);
            }
        } else if (mayEnd()) {
            outputs.forEach(output -> output.broadcast(new EndOfPartition()));
            close();
            phase = Phase.ENDED;
        } else if (hasRoom() && hasInput()) {
            processOne(choices);
        }
    }

    private void processOne(Choices choices) throws Exception {
        if (source == null) {
            List<TaskInputs.Channel> readable = inputs.readable();
            inputs.read(readable.get(choices.next(readable.size())));
        } else if (!deployedFinished && source.hasNext()) {
            for (int i = 0; i < burst && source.hasNext() && hasRoom(); i++) {
                source.emit(choices);
            }
        } else {
            endData(true);
        }
    }

    /** Ends the source before its splits do. */
    void stop(boolean drain) throws Exception {
        endData(drain);
    }

    /** Where a source reads on, by split; none where it had finished before it was deployed. */
    Map<Integer, Integer> positions() {
        return source.positions();
    }

    @Override
    public void onInputEnd(int input, boolean inputDrained) throws Exception {
        drained &= inputDrained;
        if (inputDrained && !deployedFinished && chain.first() != null) {
            chain.endInput(input);
        }
        if (inputs.isDataEnded()) {
            endData(drained);
        }
    }

    private void endData(boolean drain) throws Exception {
        if (drain) {
            if (source != null && !deployedFinished) {
                chain.head().accept(Watermark.MAX_WATERMARK);
            }
            if (deployedFinished) {
                outputs.forEach(output -> output.accept(Watermark.MAX_WATERMARK));
            } else {
                chain.finish(thread::runAll);
            }
        }
        outputs.forEach(output -> output.broadcast(new EndOfData(drain)));
        phase = Phase.FINISHED;
    }

    /** Whether all tasks before it have ended, so that a checkpoint starts here. */
    boolean startsCheckpoints() {
        return source != null || inputs.areSendersEnded();
    }

    /** The last checkpoint with the task's state; its barriers may be in flight. 0 for none. */
    long lastSnapshot() {
        return lastSnapshot;
    }

    /** Whether it has a checkpoint to start. */
    boolean isTriggered() {
        return trigger != 0;
    }

    String name() {
        return vertex.name() + " (" + (id.subtask() + 1) + ")";
    }

    void trigger(long checkpoint, boolean unaligned) {
        trigger = checkpoint;
        unalignedTrigger = unaligned;
    }

    @Override
    public void onSnapshot(long checkpoint, boolean unaligned) throws Exception {
        Map<OperatorID, OperatorSubtaskState> states = Map.of();
        if (!deployedFinished) {
            chain.prepareSnapshot(checkpoint);
        }
        outputs.forEach(output -> output.barrier(checkpoint, unaligned));
        if (!deployedFinished) {
            states = chain.snapshot(checkpoint);
        }
        if (hasSink()) {
            sink.prepare(id.subtask(), checkpoint);
        }
        if (phase == Phase.FINISHED) {
            finalCheckpoint = Math.min(finalCheckpoint, checkpoint);
        }
        state =
                new TaskState(
                        states,
                        source == null ? Map.of() : source.positions(),
                        new HashMap<>(),
                        phase == Phase.FINISHED);
        lastSnapshot = checkpoint;
    }

    @Override
    public void onBarriersComplete(long checkpoint) {
        if (inputs != null) {
            for (TaskInputs.Channel channel : inputs.channels()) {
                state.inFlight()
                        .put(new ChannelId(channel.gate, channel.sender), channel.inFlight());
            }
        }
        acks.acknowledge(this, checkpoint, state);
    }

    private boolean hasSink() {
        return vertex.chain().values().stream()
                .anyMatch(operator -> operator.getOperatorName().equals(JobPlan.SINK));
    }

    /** Tells of a complete checkpoint, by mail. */
    void announceComplete(long checkpoint) {
        if (phase != Phase.ENDED) {
            completions.add(checkpoint);
        }
    }

    private void complete(long checkpoint) throws Exception {
        if (phase == Phase.FINISHED && checkpoint >= finalCheckpoint) {
            finalCheckpointComplete = true;
        }
        if (!deployedFinished && phase != Phase.ENDED) {
            chain.complete(checkpoint);
        }
    }

    void abort(long checkpoint) {
        if (trigger == checkpoint) {
            trigger = 0;
        }
        if (inputs != null) {
            inputs.abort(checkpoint);
        }
    }

    /** Chunks of facts that wait in the join's state; 0 in other tasks. */
    int waitingChunks() {
        return environment.gauge("waitingProbeChunks");
    }

    void openGates() {
        if (source != null) {
            source.openGates();
        }
    }

    boolean isAtGate() {
        return phase == Phase.RUNNING && source != null && source.isAtGate();
    }

    /** As a cancelled task: operators are closed without being finished. */
    @Override
    public void close() throws Exception {
        chain.close();
    }
}
