// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.Checkpoint.ChannelId;
import io.github.gpujoin.flink.simulation.Checkpoint.TaskId;
import io.github.gpujoin.flink.simulation.Checkpoint.TaskState;
import io.github.gpujoin.flink.simulation.JobPlan.Vertex;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.runtime.plugable.SerializationDelegate;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.runtime.partitioner.StreamPartitioner;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/** All tasks of a job and the channels between them, from a deployment until it fails or ends. */
final class JobAttempt implements AutoCloseable {

    private final JobPlan plan;
    private final List<Integer> parallelism;
    private final int number;
    private final LifeSetting setting;
    private final SinkResults.Attempt sink;
    private final List<SimulatedTask> tasks = new ArrayList<>();

    /** Of an edge, from each subtask to each; null where Flink does not connect them. */
    private final Map<StreamEdge, SimulatedChannel[][]> channels = new HashMap<>();

    /**
     * @param parallelism of each vertex
     * @param restored null where the job starts from nothing
     */
    JobAttempt(
            JobPlan plan,
            List<Integer> parallelism,
            int number,
            Checkpoint restored,
            LifeSetting setting,
            SinkResults.Attempt sink,
            SimulatedTask.Acks acks)
            throws Exception {
        this.plan = plan;
        this.parallelism = parallelism;
        this.number = number;
        this.setting = setting;
        this.sink = sink;
        for (Vertex vertex : plan.vertices()) {
            vertex.in().forEach(edge -> channels.put(edge, connect(edge)));
        }
        if (restored != null) {
            restoreInFlight(restored);
        }
        try {
            // Flink deploys in no order; here receivers come first, and so may find no sender yet.
            for (int v = plan.vertices().size() - 1; v >= 0; v--) {
                for (int subtask = 0; subtask < parallelism.get(v); subtask++) {
                    tasks.add(deploy(plan.vertices().get(v), subtask, restored, acks));
                }
            }
        } catch (Exception e) {
            close();
            throw e;
        }
    }

    List<SimulatedTask> tasks() {
        return tasks;
    }

    List<Integer> parallelism() {
        return parallelism;
    }

    SinkResults.Attempt sink() {
        return sink;
    }

    // ------------------------------------------------------------------ channels

    private int sendersOf(StreamEdge edge) {
        return parallelism.get(plan.sourceOf(edge).number());
    }

    private int receiversOf(StreamEdge edge) {
        return parallelism.get(plan.targetOf(edge).number());
    }

    private SimulatedChannel[][] connect(StreamEdge edge) {
        int senders = sendersOf(edge);
        int receivers = receiversOf(edge);
        SimulatedChannel[][] connected = new SimulatedChannel[senders][receivers];
        for (int sender = 0; sender < senders; sender++) {
            for (int receiver = 0; receiver < receivers; receiver++) {
                if (!edge.getPartitioner().isPointwise()
                        || isPointwise(sender, senders, receiver, receivers)) {
                    connected[sender][receiver] = new SimulatedChannel(setting.channelCapacity());
                }
            }
        }
        return connected;
    }

    /** As Flink connects a pointwise edge. */
    private static boolean isPointwise(int sender, int senders, int receiver, int receivers) {
        if (senders >= receivers) {
            return sender >= receiver * senders / receivers
                    && sender < (receiver + 1) * senders / receivers;
        }
        return receiver >= (sender * receivers + senders - 1) / senders
                && receiver < ((sender + 1) * receivers + senders - 1) / senders;
    }

    private List<SimulatedChannel> from(StreamEdge edge, int sender) {
        List<SimulatedChannel> connected = new ArrayList<>();
        for (SimulatedChannel channel : channels.get(edge)[sender]) {
            if (channel != null) {
                connected.add(channel);
            }
        }
        return connected;
    }

    /** Channels into a subtask, by their senders. */
    private Map<Integer, SimulatedChannel> into(StreamEdge edge, int receiver) {
        Map<Integer, SimulatedChannel> connected = new TreeMap<>();
        SimulatedChannel[][] all = channels.get(edge);
        for (int sender = 0; sender < all.length; sender++) {
            if (all[sender][receiver] != null) {
                connected.put(sender, all[sender][receiver]);
            }
        }
        return connected;
    }

    // ------------------------------------------------------------------ tasks

    private SimulatedTask deploy(
            Vertex vertex, int subtask, Checkpoint restored, SimulatedTask.Acks acks)
            throws Exception {
        List<NetworkOutput> outputs = new ArrayList<>();
        List<SimulatedEnvironment.Output> partitions = new ArrayList<>();
        for (StreamEdge edge : vertex.out()) {
            List<SimulatedChannel> out = from(edge, subtask);
            partitions.add(new SimulatedEnvironment.Output(plan.dataOf(edge), out.size()));
            outputs.add(
                    new NetworkOutput(
                            edge, out, parallelism.get(vertex.number()), vertex.maxParallelism()));
        }
        List<SimulatedEnvironment.Input> gates =
                vertex.in().stream().map(edge -> gate(edge, subtask)).toList();
        SimulatedTask task =
                new SimulatedTask(
                        plan.configuration(),
                        vertex,
                        new TaskId(vertex.number(), subtask),
                        parallelism.get(vertex.number()),
                        number,
                        gates,
                        partitions,
                        outputs,
                        restored == null
                                ? null
                                : StateAssignment.of(
                                        restored,
                                        vertex,
                                        subtask,
                                        parallelism.get(vertex.number())),
                        restored != null && restored.isFinished(vertex.number()),
                        sink,
                        setting,
                        acks);
        if (vertex.isSource()) {
            play(task, vertex, subtask, restored);
        } else {
            connectInputs(task, vertex, subtask);
        }
        return task;
    }

    private SimulatedEnvironment.Input gate(StreamEdge edge, int receiver) {
        List<SimulatedEnvironment.Channel> read = new ArrayList<>();
        into(edge, receiver)
                .forEach(
                        (sender, channel) ->
                                read.add(
                                        new SimulatedEnvironment.Channel(
                                                sender, from(edge, sender).indexOf(channel))));
        return new SimulatedEnvironment.Input(plan.dataOf(edge), plan.sourceOf(edge).id(), read);
    }

    private void play(SimulatedTask task, Vertex vertex, int subtask, Checkpoint restored) {
        Map<Integer, Integer> positions = new HashMap<>();
        String name = setting.sourceOf(vertex);
        if (restored != null) {
            for (int old = 0; old < restored.parallelism.get(vertex.number()); old++) {
                TaskState state = restored.states.get(new TaskId(vertex.number(), old));
                if (state != null) {
                    positions.putAll(state.positions());
                }
            }
            // An ended subtask had read its splits to their end.
            for (Split split : setting.splitsOf(name)) {
                int old = split.number() % restored.parallelism.get(vertex.number());
                if (restored.ended.contains(new TaskId(vertex.number(), old))) {
                    positions.put(split.number(), split.script().size());
                }
            }
        }
        List<Split> own =
                setting.splitsOf(name).stream()
                        .filter(s -> s.number() % parallelism.get(vertex.number()) == subtask)
                        .toList();
        boolean bounded = setting.isBounded(name);
        task.play(own, positions, bounded, restored != null && !bounded, setting.burst());
    }

    private void connectInputs(SimulatedTask task, Vertex vertex, int subtask) {
        TaskInputs inputs = task.connect(setting.blocksForBarriers());
        for (int gate = 0; gate < vertex.in().size(); gate++) {
            StreamEdge edge = vertex.in().get(gate);
            int side = Math.max(0, edge.getTypeNumber() - 1);
            int number = gate;
            into(edge, subtask)
                    .forEach((sender, channel) -> inputs.add(number, side, sender, channel));
        }
        inputs.start();
    }

    // ------------------------------------------------------------------ data in flight

    private void restoreInFlight(Checkpoint restored) {
        boolean rescaled = !restored.parallelism.equals(parallelism);
        restored.states.forEach(
                (task, state) ->
                        state.inFlight().forEach((id, data) -> restore(task, id, data, rescaled)));
    }

    private void restore(TaskId task, ChannelId id, List<StreamElement> data, boolean rescaled) {
        StreamEdge edge = plan.vertices().get(task.vertex()).in().get(id.gate());
        SimulatedChannel[][] all = channels.get(edge);
        if (!rescaled) {
            data.forEach(all[id.sender()][task.subtask()]::add);
            return;
        }
        // Records go where the partitioner sends them now. Of watermarks, Flink keeps the least of
        // the old channels; here those in flight are dropped, and later ones tell.
        StreamPartitioner<Object> partitioner =
                NetworkOutput.partitioner(edge, plan.targetOf(edge).maxParallelism());
        partitioner.setup(receiversOf(edge));
        SerializationDelegate<StreamRecord<Object>> delegate = new SerializationDelegate<>(null);
        for (StreamElement element : data) {
            if (element.isRecord()) {
                delegate.setInstance(element.asRecord());
                int receiver = partitioner.selectChannel(delegate);
                all[id.sender() % all.length][receiver].add(element);
            }
        }
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(tasks.stream().map(task -> (AutoCloseable) task).toList());
    }
}
