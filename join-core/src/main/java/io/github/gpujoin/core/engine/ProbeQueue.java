package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;

/**
 * Probe chunks in flight in an engine, first in, first out, and the account of what was delivered.
 * Not thread-safe.
 *
 * @param <P> what the engine keeps of a chunk
 */
public final class ProbeQueue<P extends ProbeQueue.Probe> implements Iterable<P> {

    /** A chunk in flight and how far its results were polled. */
    public static class Probe {

        private final Chunk chunk;
        private final int firstRow;
        private int completedRows;

        protected Probe(PendingProbe pending) {
            this.chunk = pending.chunk();
            this.firstRow = pending.firstRow();
            this.completedRows = firstRow;
        }

        public final Chunk chunk() {
            return chunk;
        }

        public final int firstRow() {
            return firstRow;
        }

        public final int completedRows() {
            return completedRows;
        }
    }

    private final JoinSpec spec;
    private final int capacity;
    private final Function<PendingProbe, P> opener;
    private final ArrayDeque<P> probes = new ArrayDeque<>();
    private long probeRows;
    private long resultRows;

    /**
     * @param capacity chunks that may be submitted at once
     */
    public ProbeQueue(JoinSpec spec, int capacity, Function<PendingProbe, P> opener) {
        this.spec = spec;
        this.capacity = capacity;
        this.opener = opener;
    }

    /** As {@link JoinEngine#submitProbe}, for a JOINING engine. */
    public boolean submit(Chunk chunk, int firstRow) {
        EngineChecks.probe(spec, chunk);
        PendingProbe pending = new PendingProbe(chunk, firstRow);
        return probes.size() < capacity && probes.add(opener.apply(pending));
    }

    /** The oldest chunk; null where there is none. */
    public P head() {
        return probes.peek();
    }

    public int size() {
        return probes.size();
    }

    @Override
    public Iterator<P> iterator() {
        return probes.iterator();
    }

    /** Accounts for a batch of the oldest chunk, which leaves with its last one. */
    public void delivered(ResultBatch batch) {
        Probe head = probes.element();
        head.completedRows = batch.completedRows();
        resultRows += batch.rowCount();
        if (batch.isLast()) {
            probes.remove();
            probeRows += head.chunk().rowCount() - head.firstRow();
        }
    }

    /** Accounts for groups that were taken. */
    public void delivered(GroupRows groups) {
        resultRows += groups.rowCount();
    }

    /** As {@link JoinEngine#snapshot()}. */
    public List<PendingProbe> snapshot() {
        return probes.stream()
                .map(probe -> new PendingProbe(probe.chunk(), probe.completedRows()))
                .toList();
    }

    /** As {@link JoinEngine#restore}, for a JOINING engine. */
    public void restore(List<PendingProbe> pending) {
        EngineChecks.nothingInFlight(probes.size());
        pending.forEach(probe -> EngineChecks.probe(spec, probe.chunk()));
        pending.forEach(probe -> probes.add(opener.apply(probe)));
    }

    public void clear() {
        probes.clear();
    }

    /** Rows whose results are all delivered. */
    public long probeRows() {
        return probeRows;
    }

    /** Rows delivered. */
    public long resultRows() {
        return resultRows;
    }
}
