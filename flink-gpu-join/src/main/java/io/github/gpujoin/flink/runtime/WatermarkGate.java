// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Holds watermarks, statuses and latency markers until the results of all facts before them are
 * emitted, buffered ones included. Chunks of one partition are completed in the order in which they
 * are accepted; chunks of different partitions in any order.
 */
final class WatermarkGate {

    /** Further latency markers are dropped: they would measure the same wait. */
    static final int MAX_MARKERS = 1_000;

    /** An element, and the number of chunks accepted before it, all of which must be completed. */
    private record Held(long afterChunks, StreamElement element) {}

    private final ThrowingConsumer<StreamElement, Exception> pass;
    private final ArrayDeque<Held> held = new ArrayDeque<>();
    private final Map<Integer, ArrayDeque<Long>> open = new HashMap<>();
    private final TreeSet<Long> allOpen = new TreeSet<>();
    private long acceptedChunks;

    /**
     * @param pass emits an element behind buffered results
     */
    WatermarkGate(ThrowingConsumer<StreamElement, Exception> pass) {
        this.pass = pass;
    }

    void accepted(int partition) {
        open.computeIfAbsent(partition, p -> new ArrayDeque<>()).add(acceptedChunks);
        allOpen.add(acceptedChunks++);
    }

    /** Completes the oldest open chunk of the partition. */
    void completed(int partition) throws Exception {
        allOpen.remove(open.get(partition).remove());
        while (!held.isEmpty() && isPast(held.peek().afterChunks)) {
            pass.accept(held.remove().element);
        }
    }

    private boolean isPast(long chunks) {
        return allOpen.isEmpty() || allOpen.first() >= chunks;
    }

    void hold(StreamElement element) throws Exception {
        if (allOpen.isEmpty()) {
            pass.accept(element);
            return;
        }
        if (element.isLatencyMarker() && held.size() >= MAX_MARKERS) {
            return;
        }
        Held last = held.peekLast();
        if (last != null && last.afterChunks == acceptedChunks && replaces(element, last.element)) {
            held.removeLast();
        }
        held.add(new Held(acceptedChunks, element));
    }

    /** Whether the later element makes the earlier one obsolete, with no fact in between. */
    private static boolean replaces(StreamElement later, StreamElement earlier) {
        return later.getClass() == earlier.getClass()
                && (later.isWatermark() || later.isWatermarkStatus());
    }
}
