package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.nio.ByteBuffer;
import java.util.Map;

/** Drops from an engine's first batches the rows that another engine handed out before. */
final class RepeatFilter implements AutoCloseable {

    private final int dimensions;
    private final ResultRowBytes format;
    private final byte[] scratch;
    private final Map<ByteBuffer, Integer> counts;
    private Region region;
    private long droppedRows;

    /**
     * @param counts rows of the first chunk by content; taken over
     */
    RepeatFilter(JoinSpec spec, Map<ByteBuffer, Integer> counts) {
        this.dimensions = spec.dimensions().size();
        this.format = new ResultRowBytes(spec);
        this.scratch = new byte[format.lengthBytes()];
        this.counts = counts;
    }

    /** Whether all rows that were handed out before have come again. */
    boolean isDone() {
        return counts.isEmpty();
    }

    long droppedRows() {
        return droppedRows;
    }

    /**
     * The batch without repeated rows; valid until the next call or close.
     *
     * @throws IllegalStateException where the chunk ends and a row has not come again
     */
    ResultBatch apply(ResultBatch batch) {
        int[] kept = new int[batch.rowCount()];
        int count = 0;
        for (int row = 0; row < batch.rowCount(); row++) {
            if (!isRepeat(batch, row)) {
                kept[count++] = row;
            }
        }
        droppedRows += batch.rowCount() - count;
        if (batch.isLast() && !isDone()) {
            throw new IllegalStateException(
                    "all engines give the same results, but some did not come again: missing="
                            + counts.values().stream().mapToInt(Integer::intValue).sum());
        }
        return count == batch.rowCount() ? batch : copy(batch, kept, count);
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

    private ResultBatch copy(ResultBatch batch, int[] rows, int count) {
        ResultLayout layout = batch.layout();
        close();
        region = Region.allocate(layout.lengthBytes());
        ResultBatch copy = new ResultBatch(layout, region.address());
        gather(batch.probeRowAddress(), copy.probeRowAddress(), Integer.BYTES, rows, count);
        for (int d = 0; d < dimensions; d++) {
            for (int p = 0; p < layout.payloadCount(d); p++) {
                int width = layout.payloadWidth(d, p);
                gather(batch.payloadAddress(d, p), copy.payloadAddress(d, p), width, rows, count);
            }
            if (layout.carriedOffset(d) >= 0) {
                gather(batch.carriedAddress(d), copy.carriedAddress(d), Long.BYTES, rows, count);
            }
            if (layout.matchedOffset(d) >= 0) {
                gather(batch.matchedAddress(d), copy.matchedAddress(d), Byte.BYTES, rows, count);
            }
        }
        copy.set(batch.chunk(), count, batch.completedRows());
        return copy;
    }

    private static void gather(long from, long to, int widthBytes, int[] rows, int count) {
        for (int i = 0; i < count; i++) {
            Memory.copy(
                    null,
                    from + (long) widthBytes * rows[i],
                    null,
                    to + (long) widthBytes * i,
                    widthBytes);
        }
    }

    @Override
    public void close() {
        if (region != null) {
            region.close();
            region = null;
        }
    }
}
