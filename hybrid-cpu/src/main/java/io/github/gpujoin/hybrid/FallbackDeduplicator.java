// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Prevents duplicate results when a device fails in the middle of a fact row and another engine
 * restarts that row. The second engine emits the results of the row in another order, so they are
 * compared by content, including variable-width values.
 *
 * <p>Affected are the rows of the oldest in-flight chunk of which the device emitted results
 * without reporting the row complete. At most 16 MiB of their results are recorded.
 *
 * <pre>
 *   RECORDING ---- device fails ----> FILTERING ---- all repeats have arrived ----> PASSING
 *   PASSING        from the start, if no device can fail
 * </pre>
 *
 * <p>Not thread-safe.
 */
public final class FallbackDeduplicator implements AutoCloseable {

    private enum Phase {
        /** Records results of incomplete rows of the device. */
        RECORDING,
        /** Drops results that the device has emitted. */
        FILTERING,
        /** Returns batches unchanged. */
        PASSING
    }

    private final Recorder recorder;
    private final RepeatFilter filter;
    private Phase phase;

    /**
     * @param deviceCanFail whether the join uses a device
     */
    public FallbackDeduplicator(JoinSpec spec, boolean deviceCanFail) {
        this.recorder = new Recorder(spec);
        this.filter = new RepeatFilter(spec);
        this.phase = deviceCanFail ? Phase.RECORDING : Phase.PASSING;
    }

    /**
     * Removes rows that a failed device has emitted before.
     *
     * @param batch a batch of the current engine. After {@link #onDeviceFailure()}, the first ones
     *     are of the interrupted chunk, from its first incomplete row on.
     * @param byDevice whether the device produced it
     * @return valid until the next call, and as long as {@code batch}
     * @throws IllegalStateException if the current engine does not repeat what the device emitted
     */
    public ResultBatch deduplicate(ResultBatch batch, boolean byDevice) {
        if (phase == Phase.FILTERING) {
            return filter.apply(batch);
        }
        if (phase == Phase.RECORDING && byDevice) {
            recorder.record(batch);
        }
        return batch;
    }

    /**
     * Switches to the engine that replaces the failed device. The failed engine must still be open.
     * A second call has no effect.
     *
     * @throws IllegalStateException if incomplete rows have more results than are recorded
     */
    public void onDeviceFailure() {
        if (phase == Phase.RECORDING) {
            filter.expect(recorder.counts());
            phase = Phase.FILTERING;
        }
    }

    /**
     * Frees the last batch once all repeated rows have arrived. Call it when the caller no longer
     * reads that batch.
     */
    public void closeFilterIfDone() {
        if (phase == Phase.FILTERING && filter.isDone()) {
            close();
        }
    }

    @Override
    public void close() {
        phase = Phase.PASSING;
        filter.close();
    }

    /** Records the emitted results of probe rows that are not complete yet. */
    static final class Recorder {

        /** Limit of the memory for the recorded results of all incomplete probe rows. */
        private static final int MAX_BYTES = 16 << 20;

        private static final int MIN_BYTES = 4 << 10;
        private static final int NO_ROW = -1;

        private final ResultRowBytes format;
        private final int maxBytes;
        private byte[] rows = new byte[0];
        private int usedBytes;

        /** The last probe row with results that exceed the limit, or {@code NO_ROW}. */
        private int overflowRow = NO_ROW;

        Recorder(JoinSpec spec) {
            this(spec, MAX_BYTES);
        }

        Recorder(JoinSpec spec, int maxBytes) {
            this.format = new ResultRowBytes(spec);
            this.maxBytes = maxBytes;
        }

        /** Records the rows of an emitted batch and forgets rows that are complete. */
        void record(ResultBatch batch) {
            forgetBefore(batch.completedRows());
            int from = batch.rowCount();
            while (from > 0 && batch.probeRow(from - 1) >= batch.completedRows()) {
                from--;
            }
            for (int row = from; row < batch.rowCount(); row++) {
                append(batch, row);
            }
            if (batch.isLast()) {
                forgetBefore(Integer.MAX_VALUE);
            }
        }

        /**
         * Forgets results of probe rows before {@code probeRow}. Recorded rows are in ascending
         * order.
         */
        private void forgetBefore(int probeRow) {
            int from = 0;
            while (from < usedBytes && ResultRowBytes.probeRow(rows, from) < probeRow) {
                from += format.lengthBytes();
            }
            System.arraycopy(rows, from, rows, 0, usedBytes - from);
            usedBytes -= from;
            overflowRow = overflowRow < probeRow ? NO_ROW : overflowRow;
        }

        private void append(ResultBatch batch, int row) {
            int needed = usedBytes + format.lengthBytes();
            if (needed > maxBytes) {
                overflowRow = batch.probeRow(row);
                return;
            }
            if (needed > rows.length) {
                int grown = Math.max(needed, Math.max(MIN_BYTES, 2 * rows.length));
                rows = Arrays.copyOf(rows, Math.min(maxBytes, grown));
            }
            format.write(batch, row, rows, usedBytes);
            usedBytes = needed;
        }

        /**
         * Returns how often each result row was emitted, by content.
         *
         * <p>The engine that emitted the rows must still be open.
         *
         * @throws IllegalStateException if a probe row has more results than fit the limit
         */
        Map<ByteBuffer, Integer> counts() {
            if (overflowRow != NO_ROW) {
                throw new IllegalStateException(
                        "Too many results of incomplete fact rows for a fallback: the job restarts from the"
                                + " last checkpoint. maxBytes="
                                + maxBytes
                                + ", row="
                                + overflowRow);
            }
            Map<ByteBuffer, Integer> counts = new HashMap<>();
            for (int at = 0; at < usedBytes; at += format.lengthBytes()) {
                counts.merge(format.content(rows, at), 1, Integer::sum);
            }
            return counts;
        }
    }

    /** Drops recorded rows from the batches of the second engine. */
    static final class RepeatFilter implements AutoCloseable {

        private final ResultRowBytes format;
        private final byte[] scratch;
        private Map<ByteBuffer, Integer> counts = Map.of();
        private final BatchRows kept;

        RepeatFilter(JoinSpec spec) {
            this.kept = new BatchRows(spec);
            this.format = new ResultRowBytes(spec);
            this.scratch = new byte[format.lengthBytes()];
        }

        /**
         * @param emitted rows of the first chunk by content, and how often each was emitted; this
         *     object modifies the map
         */
        void expect(Map<ByteBuffer, Integer> emitted) {
            counts = emitted;
        }

        /** Returns whether all rows that were emitted before have been repeated. */
        boolean isDone() {
            return counts.isEmpty();
        }

        /**
         * Returns the batch without repeated rows.
         *
         * @return valid until the next call or {@link #close()}
         * @throws IllegalStateException if the chunk ends before all rows were repeated
         */
        ResultBatch apply(ResultBatch batch) {
            int[] rows = new int[batch.rowCount()];
            int count = 0;
            for (int row = 0; row < batch.rowCount(); row++) {
                if (!isRepeat(batch, row)) {
                    rows[count++] = row;
                }
            }
            if (batch.isLast() && !isDone()) {
                throw new IllegalStateException(
                        "The fallback engine did not repeat emitted results: missing="
                                + counts.values().stream().mapToInt(Integer::intValue).sum());
            }
            return count == batch.rowCount() ? batch : kept.copy(batch, rows, count);
        }

        private boolean isRepeat(ResultBatch batch, int row) {
            if (isDone()) {
                return false;
            }
            format.write(batch, row, scratch, 0);
            ByteBuffer content = format.content(scratch, 0);
            if (!counts.containsKey(content)) {
                return false;
            }
            // null removes the entry
            counts.computeIfPresent(content, (key, left) -> left == 1 ? null : left - 1);
            return true;
        }

        @Override
        public void close() {
            kept.close();
        }
    }
}
