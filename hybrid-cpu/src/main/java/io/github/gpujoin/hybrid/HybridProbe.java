package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.PendingProbe;
import io.github.gpujoin.core.engine.ProbeQueue;

/** A probe chunk in flight, its unit, and whether an engine has it. */
final class HybridProbe extends ProbeQueue.Probe {

    private final Unit unit;
    private final int partition;
    private boolean submitted;

    HybridProbe(PendingProbe pending, Unit unit, int partition) {
        super(pending);
        this.unit = unit;
        this.partition = partition;
    }

    Unit unit() {
        return unit;
    }

    int partition() {
        return partition;
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
