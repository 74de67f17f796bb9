package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;

/**
 * Sees to it that no result is handed out twice where a device fails in the middle of a fact row
 * and another engine starts that row over. Not thread-safe.
 */
final class HandedOutRows implements AutoCloseable {

    private final JoinSpec spec;

    /** Null where no device can fail. */
    private BegunRows begun;

    /** Null unless a device that failed had handed out parts of a row. */
    private RepeatFilter repeats;

    /**
     * @param deviceCanFail whether there is one
     */
    HandedOutRows(JoinSpec spec, boolean deviceCanFail) {
        this.spec = spec;
        this.begun = deviceCanFail ? new BegunRows(spec) : null;
    }

    /** The batch without rows that were handed out before; valid as long as the one given. */
    ResultBatch handOut(ResultBatch given, Place from) {
        ResultBatch batch = repeats == null ? given : repeats.apply(given);
        if (begun != null && from == Place.DEVICE) {
            begun.handedOut(batch);
        }
        return batch;
    }

    /**
     * Another engine goes on with the chunk that the device answers; both are still open.
     *
     * @throws IllegalStateException where a row has more results than are remembered
     */
    void repeatedByAnother() {
        repeats = new RepeatFilter(spec, begun.counts());
    }

    /** No device can fail any more. */
    void forget() {
        begun = null;
    }

    /** Lets go of what only the last batch needed, once all repeated rows have come. */
    void closeFilter() {
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
