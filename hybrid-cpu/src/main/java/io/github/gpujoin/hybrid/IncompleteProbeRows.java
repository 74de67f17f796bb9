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
 * Records the emitted results of probe rows that are not complete yet.
 *
 * <p>After a fallback the second engine restarts such rows and emits their results in another
 * order. The recorded results must not be emitted again. Not thread-safe.
 */
final class IncompleteProbeRows {

    /** Limit of the memory for the recorded results of one probe row. */
    private static final int MAX_BYTES = 16 << 20;

    private static final int MIN_BYTES = 4 << 10;
    private static final int NO_ROW = -1;

    private final ResultRowBytes format;
    private final int maxBytes;
    private byte[] rows = new byte[0];
    private int usedBytes;

    /** The last probe row with results that exceed the limit, or {@code NO_ROW}. */
    private int overflowRow = NO_ROW;

    IncompleteProbeRows(JoinSpec spec) {
        this(spec, MAX_BYTES);
    }

    IncompleteProbeRows(JoinSpec spec, int maxBytes) {
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
     * Forgets results of probe rows before {@code probeRow}. Recorded rows are in ascending order.
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
                    "Too many results of one fact row for a fallback: the job restarts from the"
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
