// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.SimulatedChannel.Barrier;
import io.github.gpujoin.flink.simulation.SimulatedChannel.Event;
import java.util.List;
import org.apache.flink.runtime.plugable.SerializationDelegate;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.runtime.partitioner.ConfigurableStreamPartitioner;
import org.apache.flink.streaming.runtime.partitioner.ForwardPartitioner;
import org.apache.flink.streaming.runtime.partitioner.RebalancePartitioner;
import org.apache.flink.streaming.runtime.partitioner.StreamPartitioner;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** An edge out of a task: the job's own partitioner over the channels to the next vertex. */
final class NetworkOutput implements ChainOutput.Target {

    private final StreamEdge edge;
    private final List<SimulatedChannel> channels;
    private final StreamPartitioner<Object> partitioner;
    private final SerializationDelegate<StreamRecord<Object>> delegate =
            new SerializationDelegate<>(null);
    private final boolean isRoundRobin;
    private int next;

    /**
     * @param parallelism of the task
     * @param keyGroups of all tasks
     */
    NetworkOutput(
            StreamEdge edge, List<SimulatedChannel> channels, int parallelism, int keyGroups) {
        this.edge = edge;
        this.channels = channels;
        this.partitioner = partitioner(edge, keyGroups);
        // Flink replaces a forward edge whose ends differ in parallelism. A rebalanced edge starts
        // at a random channel there, and here at the first.
        this.isRoundRobin =
                partitioner instanceof RebalancePartitioner
                        || partitioner instanceof ForwardPartitioner
                                && channels.size() != parallelism
                                && channels.size() != 1;
        partitioner.setup(channels.size());
    }

    @SuppressWarnings("unchecked")
    static StreamPartitioner<Object> partitioner(StreamEdge edge, int keyGroups) {
        StreamPartitioner<Object> copy = (StreamPartitioner<Object>) edge.getPartitioner().copy();
        if (copy instanceof ConfigurableStreamPartitioner configurable) {
            configurable.configure(keyGroups);
        }
        return copy;
    }

    StreamEdge edge() {
        return edge;
    }

    boolean hasRoom() {
        return channels.stream().allMatch(SimulatedChannel::hasRoom);
    }

    boolean isEmpty() {
        return channels.stream().allMatch(SimulatedChannel::isEmpty);
    }

    @Override
    public void accept(StreamElement element) {
        if (!element.isRecord()) {
            channels.forEach(channel -> channel.add(element));
            return;
        }
        StreamRecord<Object> record = element.asRecord();
        if (partitioner.isBroadcast()) {
            channels.forEach(channel -> channel.add(record.copy(record.getValue())));
            return;
        }
        channels.get(select(record)).add(record.copy(record.getValue()));
    }

    private int select(StreamRecord<Object> record) {
        if (isRoundRobin) {
            next = (next + 1) % channels.size();
            return next;
        }
        delegate.setInstance(record);
        return partitioner.selectChannel(delegate);
    }

    void broadcast(Event event) {
        channels.forEach(channel -> channel.add(event));
    }

    void barrier(long checkpoint, boolean unaligned) {
        for (SimulatedChannel channel : channels) {
            if (unaligned && edge.supportsUnalignedCheckpoints()) {
                channel.overtake(checkpoint);
            } else {
                channel.add(new Barrier(checkpoint, null));
            }
        }
    }
}
