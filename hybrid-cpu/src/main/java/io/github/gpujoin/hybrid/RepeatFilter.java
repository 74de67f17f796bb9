package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import java.nio.ByteBuffer;
import java.util.Map;

/** Drops from an engine's first batches the rows that another engine handed out before. */
final class RepeatFilter implements AutoCloseable {

    private final ResultRowBytes format;
    private final byte[] scratch;
    private final Map<ByteBuffer, Integer> counts;
    private final BatchRows kept;

    /**
     * @param counts rows of the first chunk by content; taken over
     */
    RepeatFilter(JoinSpec spec, Map<ByteBuffer, Integer> counts) {
        this.kept = new BatchRows(spec);
        this.format = new ResultRowBytes(spec);
        this.scratch = new byte[format.lengthBytes()];
        this.counts = counts;
    }

    /** Whether all rows that were handed out before have come again. */
    boolean isDone() {
        return counts.isEmpty();
    }

    /**
     * The batch without repeated rows; valid until the next call or close.
     *
     * @throws IllegalStateException where the chunk ends and a row has not come again
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
                    "all engines give the same results, but some did not come again: missing="
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
        // null takes the entry out
        counts.computeIfPresent(content, (key, left) -> left == 1 ? null : left - 1);
        return true;
    }

    @Override
    public void close() {
        kept.close();
    }
}
