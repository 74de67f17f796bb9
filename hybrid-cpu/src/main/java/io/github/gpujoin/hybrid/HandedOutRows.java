package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;

/**
 * Sees to it that no result is handed out twice where a device fails in the middle of a fact row
 * and another engine starts that row over. Not thread-safe.
 */
public final class HandedOutRows implements AutoCloseable {

    private final JoinSpec spec;

    /** Null where no device can fail. */
    private BegunRows begun;

    /** Null unless a device that failed had handed out parts of a row. */
    private RepeatFilter repeats;

    /**
     * @param deviceCanFail whether there is one
     */
    public HandedOutRows(JoinSpec spec, boolean deviceCanFail) {
        this.spec = spec;
        this.begun = deviceCanFail ? new BegunRows(spec) : null;
    }

    /**
     * The batch without rows that were handed out before; valid until the next call, and as long as
     * the one given.
     *
     * @throws IllegalStateException where another engine does not give again what the device did
     */
    public ResultBatch handOut(ResultBatch given, boolean byDevice) {
        ResultBatch batch = repeats == null ? given : repeats.apply(given);
        if (begun != null && byDevice) {
            begun.handedOut(batch);
        }
        return batch;
    }

    /**
     * Another engine goes on with all chunks, and no device can fail any more. The one that failed
     * is still open.
     *
     * @throws IllegalStateException where a row has more results than are remembered
     */
    public void deviceFailed() {
        if (begun != null) {
            repeats = new RepeatFilter(spec, begun.counts());
            begun = null;
        }
    }

    /** Lets go of what only the last batch needed, once all repeated rows have come. */
    public void closeFilter() {
        if (repeats != null && repeats.isDone()) {
            close();
        }
    }

    @Override
    public void close() {
        if (repeats != null) {
            repeats.close();
            repeats = null;
        }
    }
}
