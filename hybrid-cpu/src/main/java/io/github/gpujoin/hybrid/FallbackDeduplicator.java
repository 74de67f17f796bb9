// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;

/**
 * Prevents duplicate results when a device fails in the middle of a fact row and another engine
 * restarts that row.
 *
 * <p>Not thread-safe.
 */
public final class FallbackDeduplicator implements AutoCloseable {

    private final JoinSpec spec;

    /** Null if no device can fail. */
    private IncompleteProbeRows incomplete;

    /** Null unless a failed device had emitted part of a row. */
    private EmittedRowFilter filter;

    /**
     * @param deviceCanFail whether the join uses a device
     */
    public FallbackDeduplicator(JoinSpec spec, boolean deviceCanFail) {
        this.spec = spec;
        this.incomplete = deviceCanFail ? new IncompleteProbeRows(spec) : null;
    }

    /**
     * Removes rows that a failed device has emitted before.
     *
     * @param given a batch of the current engine
     * @param byDevice whether the device produced it
     * @return valid until the next call, and as long as {@code given}
     * @throws IllegalStateException if the current engine does not repeat what the device emitted
     */
    public ResultBatch deduplicate(ResultBatch given, boolean byDevice) {
        ResultBatch batch = filter == null ? given : filter.apply(given);
        if (incomplete != null && byDevice) {
            incomplete.record(batch);
        }
        return batch;
    }

    /**
     * Switches to the engine that replaces the failed device. The failed engine must still be open.
     *
     * @throws IllegalStateException if a row has more results than are recorded
     */
    public void onDeviceFailure() {
        if (incomplete != null) {
            filter = new EmittedRowFilter(spec, incomplete.counts());
            incomplete = null;
        }
    }

    /** Frees the last batch once all repeated rows have arrived. */
    public void closeFilterIfDone() {
        if (filter != null && filter.isDone()) {
            close();
        }
    }

    @Override
    public void close() {
        if (filter != null) {
            filter.close();
            filter = null;
        }
    }
}
