// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import org.jspecify.annotations.Nullable;

/** Copies selected rows of a result batch into a batch of its own. Not thread-safe. */
final class BatchRows implements AutoCloseable {

    private final int dimensions;
    private @Nullable Region region;

    BatchRows(JoinSpec spec) {
        this.dimensions = spec.dimensions().size();
    }

    /**
     * Copies the rows {@code rows[0..count)} of a batch.
     *
     * @return valid until the next call or {@link #close()}, and only while the engine of {@code
     *     batch} is open
     */
    ResultBatch copy(ResultBatch batch, int[] rows, int count) {
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
            if (layout.variableWidthOffset(d) >= 0) {
                gather(
                        batch.variableWidthAddress(d),
                        copy.variableWidthAddress(d),
                        Long.BYTES,
                        rows,
                        count);
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
