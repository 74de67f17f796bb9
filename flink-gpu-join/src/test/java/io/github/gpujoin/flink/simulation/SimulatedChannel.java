// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;

/**
 * A channel from one subtask to another: the buffers of both ends in one queue. A sender is not run
 * while a channel of it is full, but what one of its steps emits goes in whole, as Flink's
 * overdraft buffers would take it.
 */
final class SimulatedChannel {

    /** What stands in a channel besides stream elements. */
    sealed interface Event {}

    /**
     * @param overtaken data that an unaligned barrier passed; null for an aligned one
     */
    record Barrier(long checkpoint, List<StreamElement> overtaken) implements Event {

        boolean isUnaligned() {
            return overtaken != null;
        }
    }

    /** The sender emits no more. */
    record EndOfData(boolean drained) implements Event {}

    /** The sender's task is over. */
    record EndOfPartition() implements Event {}

    private final int capacity;
    private final ArrayDeque<Object> queue = new ArrayDeque<>();

    SimulatedChannel(int capacity) {
        this.capacity = capacity;
    }

    boolean hasRoom() {
        return queue.size() < capacity;
    }

    boolean isEmpty() {
        return queue.isEmpty();
    }

    void add(StreamElement element) {
        queue.add(element);
    }

    void add(Event event) {
        queue.add(event);
    }

    /** Puts an unaligned barrier in front of all data, which belongs to its checkpoint. */
    void overtake(long checkpoint) {
        List<StreamElement> overtaken = new ArrayList<>();
        for (Object next : queue) {
            if (next instanceof StreamElement element) {
                overtaken.add(element);
            }
        }
        queue.addFirst(new Barrier(checkpoint, overtaken));
    }

    Object peek() {
        return queue.peek();
    }

    Object remove() {
        return queue.remove();
    }
}
