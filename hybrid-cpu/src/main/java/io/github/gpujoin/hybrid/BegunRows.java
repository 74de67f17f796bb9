package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The results that were handed out of probe rows that are not whole yet. Another engine that goes
 * on starts such rows over, in an order of its own; these must not be handed out again.
 */
final class BegunRows {

    /** Most memory that the results of one row may take here. */
    private static final int MAX_BYTES = 16 << 20;

    private static final int MIN_BYTES = 4 << 10;
    private static final int NONE = -1;

    private final ResultRowBytes format;
    private final int maxBytes;
    private byte[] rows = new byte[0];
    private int usedBytes;

    /** The last row with results that are not remembered, for lack of room. */
    private int overflownRow = NONE;

    BegunRows(JoinSpec spec) {
        this(spec, MAX_BYTES);
    }

    BegunRows(JoinSpec spec, int maxBytes) {
        this.format = new ResultRowBytes(spec);
        this.maxBytes = maxBytes;
    }

    /** Takes note of a batch that is handed out. */
    void handedOut(ResultBatch batch) {
        forgetBefore(batch.completedRows());
        int from = batch.rowCount();
        while (from > 0 && batch.probeRow(from - 1) >= batch.completedRows()) {
            from--;
        }
        for (int row = from; row < batch.rowCount(); row++) {
            remember(batch, row);
        }
        if (batch.isLast()) {
            forgetBefore(Integer.MAX_VALUE);
        }
    }

    /** Forgets rows of the chunk that are whole; rows ascend. */
    private void forgetBefore(int probeRow) {
        int from = 0;
        while (from < usedBytes && ResultRowBytes.probeRow(rows, from) < probeRow) {
            from += format.lengthBytes();
        }
        System.arraycopy(rows, from, rows, 0, usedBytes - from);
        usedBytes -= from;
        overflownRow = overflownRow < probeRow ? NONE : overflownRow;
    }

    private void remember(ResultBatch batch, int row) {
        int needed = usedBytes + format.lengthBytes();
        if (needed > maxBytes) {
            overflownRow = batch.probeRow(row);
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
     * The rows by content, with how often each was handed out. The engine that gave them must still
     * be open.
     *
     * @throws IllegalStateException where one row has more results than are remembered
     */
    Map<ByteBuffer, Integer> counts() {
        if (overflownRow != NONE) {
            throw new IllegalStateException(
                    "another engine can go on in the middle of a fact row that has few results; this"
                            + " one starts over from the last checkpoint: maxBytes="
                            + maxBytes
                            + ", row="
                            + overflownRow);
        }
        Map<ByteBuffer, Integer> counts = new HashMap<>();
        for (int at = 0; at < usedBytes; at += format.lengthBytes()) {
            counts.merge(format.content(rows, at), 1, Integer::sum);
        }
        return counts;
    }
}
