package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.PendingProbe;
import io.github.gpujoin.core.engine.ProbeQueue;

/** A probe chunk in flight, its unit, and whether an engine has it. */
final class HybridProbe extends ProbeQueue.Probe {

    private final Unit unit;
    private final int firstPartition;
    private final int endPartition;
    private boolean submitted;

    /**
     * @param partition of the chunk; meaningless if it has many, all of the unit
     */
    HybridProbe(PendingProbe pending, Unit unit, int partition) {
        super(pending);
        this.unit = unit;
        boolean many = pending.chunk().hasManyPartitions();
        this.firstPartition = many ? unit.firstPartition() : partition;
        this.endPartition = many ? unit.endPartition() : partition + 1;
    }

    Unit unit() {
        return unit;
    }

    /** First of the partitions that the chunk may have rows of. */
    int firstPartition() {
        return firstPartition;
    }

    /** Behind the last of these partitions. */
    int endPartition() {
        return endPartition;
    }

    boolean isSubmitted() {
        return submitted;
    }

    void submitted() {
        submitted = true;
        unit.submitted();
    }

    void withdrawn() {
        submitted = false;
    }
}
