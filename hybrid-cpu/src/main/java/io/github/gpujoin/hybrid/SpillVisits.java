package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.ResultBatch;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Joins chunks without tables, of one partition after the other: tables of the last partition stay
 * until those of another are needed, or no chunk is left without tables. Not thread-safe.
 */
final class SpillVisits implements AutoCloseable {

    private final Function<HybridProbe, SpillVisit> opener;
    private final Consumer<JoinEngine> takeGroups;

    /** Null before the first chunk. */
    private SpillVisit current;

    /**
     * @param opener of a visit to the partitions of a chunk
     * @param takeGroups of an engine that stops until they are taken
     */
    SpillVisits(Function<HybridProbe, SpillVisit> opener, Consumer<JoinEngine> takeGroups) {
        this.opener = opener;
        this.takeGroups = takeGroups;
    }

    /** Ends the visit where no chunk wants one: others of the process may wait for the memory. */
    void closeUnlessAwaited(Iterable<HybridProbe> queue) {
        if (current == null) {
            return;
        }
        for (HybridProbe probe : queue) {
            if (!probe.unit().place().hasTables()) {
                return;
            }
        }
        close();
    }

    /** As {@link SpillVisit#poll}. */
    ResultBatch poll(HybridProbe head) {
        if (current == null || !current.isOf(head)) {
            close();
            current = opener.apply(head);
            return null; // until the memory of the last visit is given back
        }
        ResultBatch batch = current.poll(head);
        if (batch == null && current.engine() != null && current.engine().awaitsTake()) {
            takeGroups();
        }
        return batch;
    }

    /** Takes the groups of the last visit, with nothing in flight or where they are too many. */
    void takeGroups() {
        if (current != null && current.engine() != null) {
            takeGroups.accept(current.engine());
        }
    }

    /** Ends the visit; its last batch may still be read. */
    @Override
    public void close() {
        if (current != null) {
            current.close();
            current = null;
        }
    }
}
