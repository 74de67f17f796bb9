package io.github.gpujoin.flink.operator;

import java.util.ArrayDeque;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Holds watermarks and idleness of the facts back until the results of all facts before them are
 * emitted, those that an emitter keeps included. Chunks are completed in the order in which they
 * are accepted.
 */
final class WatermarkGate {

    /** An element, and how many chunks must be completed before it may pass. */
    private record Held(long afterChunks, StreamElement element) {}

    private final ThrowingConsumer<StreamElement, Exception> pass;
    private final ArrayDeque<Held> held = new ArrayDeque<>();
    private long acceptedChunks;
    private long completedChunks;

    /**
     * @param pass emits an element behind results that are still kept back
     */
    WatermarkGate(ThrowingConsumer<StreamElement, Exception> pass) {
        this.pass = pass;
    }

    void accepted() {
        acceptedChunks++;
    }

    void completed() throws Exception {
        completedChunks++;
        while (!held.isEmpty() && held.peek().afterChunks <= completedChunks) {
            pass.accept(held.remove().element);
        }
    }

    void hold(StreamElement element) throws Exception {
        if (acceptedChunks == completedChunks) {
            pass.accept(element);
            return;
        }
        Held last = held.peekLast();
        if (last != null
                && last.afterChunks == acceptedChunks
                && last.element.getClass() == element.getClass()) {
            // No fact came in between: the later element says all that the earlier one did.
            held.removeLast();
        }
        held.add(new Held(acceptedChunks, element));
    }
}
