// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import java.nio.ByteBuffer;
import java.util.Map;

/**
 * Drops rows that another engine has emitted before from the first batches of an engine. Not
 * thread-safe.
 */
final class EmittedRowFilter implements AutoCloseable {

    private final ResultRowBytes format;
    private final byte[] scratch;
    private final Map<ByteBuffer, Integer> counts;
    private final BatchRows kept;

    /**
     * @param counts emitted rows of the first chunk by content, and how often each was emitted; the
     *     filter modifies the map
     */
    EmittedRowFilter(JoinSpec spec, Map<ByteBuffer, Integer> counts) {
        this.kept = new BatchRows(spec);
        this.format = new ResultRowBytes(spec);
        this.scratch = new byte[format.lengthBytes()];
        this.counts = counts;
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
