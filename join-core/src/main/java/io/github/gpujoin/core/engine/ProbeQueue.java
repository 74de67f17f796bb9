// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The in-flight probe chunks of an engine, first in, first out, and the number of rows polled. Not
 * thread-safe.
 *
 * @param <P> what the engine records for a chunk
 */
public final class ProbeQueue<P extends ProbeQueue.Probe> implements Iterable<P> {

    /** An in-flight chunk and its progress. */
    public static class Probe {

        private final Chunk chunk;
        private final int firstRow;
        private int completedRows;

        protected Probe(InFlightProbe pending) {
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
    private final Function<InFlightProbe, P> opener;
    private final ArrayDeque<P> probes = new ArrayDeque<>();
    private long probeRows;
    private long resultRows;

    /**
     * @param capacity chunks that may be in flight at once
     * @param opener creates the engine's record of a chunk
     */
    public ProbeQueue(JoinSpec spec, int capacity, Function<InFlightProbe, P> opener) {
        this.spec = spec;
        this.capacity = capacity;
        this.opener = opener;
    }

    /** Does the same as {@link JoinEngine#submitProbe} for a JOINING engine. */
    public boolean submit(Chunk chunk, int firstRow) {
        EngineChecks.probe(spec, chunk);
        InFlightProbe pending = new InFlightProbe(chunk, firstRow);
        return probes.size() < capacity && probes.add(opener.apply(pending));
    }

    /** Returns the oldest chunk, or null if there is none. */
    public @Nullable P head() {
        return probes.peek();
    }

    public int size() {
        return probes.size();
    }

    @Override
    public Iterator<P> iterator() {
        return probes.iterator();
    }

    /** Counts a batch of the oldest chunk, and removes the chunk with its last batch. */
    public void delivered(ResultBatch batch) {
        Probe head = probes.element();
        head.completedRows = batch.completedRows();
        resultRows += batch.rowCount();
        if (batch.isLast()) {
            probes.remove();
            probeRows += head.chunk().rowCount() - head.firstRow();
        }
    }

    /** Counts groups that were read. */
    public void delivered(GroupRows groups) {
        resultRows += groups.rowCount();
    }

    /** Does the same as {@link JoinEngine#snapshot()}. */
    public List<InFlightProbe> snapshot() {
        return probes.stream()
                .map(probe -> new InFlightProbe(probe.chunk(), probe.completedRows()))
                .toList();
    }

    /** Does the same as {@link JoinEngine#restore} for a JOINING engine. */
    public void restore(List<InFlightProbe> pending) {
        EngineChecks.nothingInFlight(probes.size());
        pending.forEach(probe -> EngineChecks.probe(spec, probe.chunk()));
        pending.forEach(probe -> probes.add(opener.apply(probe)));
    }

    public void clear() {
        probes.clear();
    }

    /** Returns the number of rows whose results were all polled. */
    public long probeRows() {
        return probeRows;
    }

    /** Returns the number of polled result rows or groups. */
    public long resultRows() {
        return resultRows;
    }
}
