package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;

/**
 * Build rows of one dimension on the host, in order of arrival: rows in {@link BuildRowLayout}, to
 * be copied to the device, and carried bytes as {@code int32 lengthBytes} and the bytes, which stay
 * here. Not thread-safe.
 */
final class BuildStaging implements AutoCloseable {

    /** Larger than on the CPU: pages are what is copied to the device at once. */
    private static final long MAX_PAGE_BYTES = 64 << 20;

    private final BuildRowLayout layout;
    private final PagedMemory rows = new PagedMemory(MAX_PAGE_BYTES);
    private final PagedMemory carried = new PagedMemory(MAX_PAGE_BYTES);
    private long rowCount;

    BuildStaging(BuildRowLayout layout) {
        this.layout = layout;
    }

    BuildRowLayout layout() {
        return layout;
    }

    long rowCount() {
        return rowCount;
    }

    /** Rows in {@link BuildRowLayout}, in order of arrival. */
    PagedMemory rows() {
        return rows;
    }

    long lengthBytes() {
        return rows.lengthBytes() + carried.lengthBytes();
    }

    /** Gives back the rows, which are on the device; carried bytes stay. */
    void closeRows() {
        rows.close();
    }

    void append(Chunk chunk) {
        int row = 0;
        while (row < chunk.rowCount()) {
            long room = Math.max(1, rows.roomBytes() / layout.rowBytes());
            int count = (int) Math.min(room, chunk.rowCount() - row);
            appendRows(chunk, row, count, rows.take((long) count * layout.rowBytes()));
            row += count;
        }
        rowCount += chunk.rowCount();
    }

    private void appendRows(Chunk chunk, int firstRow, int count, long target) {
        copyKeys(chunk, firstRow, count, target + PlanDescriptor.ROW_KEY_OFFSET);
        for (int i = 0; i < layout.payloadCount(); i++) {
            copyPayload(chunk, i, firstRow, count, target + layout.payloadOffset(i));
        }
        if (layout.carriedOffset() >= 0) {
            for (int i = 0; i < count; i++) {
                long at = target + (long) i * layout.rowBytes() + layout.carriedOffset();
                Memory.putLong(at, copyCarried(chunk, firstRow + i));
            }
        }
    }

    private void copyKeys(Chunk chunk, int firstRow, int count, long target) {
        byte[] bytes = chunk.array();
        int stride = layout.rowBytes();
        int width = layout.keyType().widthBytes();
        long source =
                Memory.BYTES + chunk.columnOffset(layout.keyColumn()) + (long) width * firstRow;
        if (layout.keyType() == ColumnType.INT64) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(target + (long) i * stride, Memory.getLong(bytes, source + 8L * i));
            }
        } else {
            for (int i = 0; i < count; i++) {
                Memory.putLong(target + (long) i * stride, Memory.getInt(bytes, source + 4L * i));
            }
        }
    }

    private void copyPayload(Chunk chunk, int payload, int firstRow, int count, long target) {
        byte[] bytes = chunk.array();
        int stride = layout.rowBytes();
        int width = layout.payloadWidth(payload);
        long source =
                Memory.BYTES
                        + chunk.columnOffset(layout.payloadColumn(payload))
                        + (long) width * firstRow;
        if (width == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(target + (long) i * stride, Memory.getLong(bytes, source + 8L * i));
            }
        } else {
            for (int i = 0; i < count; i++) {
                Memory.putInt(target + (long) i * stride, Memory.getInt(bytes, source + 4L * i));
            }
        }
    }

    private long copyCarried(Chunk chunk, int row) {
        int start = chunk.carriedStart(row);
        int length = chunk.carriedEnd(row) - start;
        long address = carried.take(4L + length);
        Memory.putInt(address, length);
        Memory.copy(chunk.array(), Memory.BYTES + start, null, address + 4, length);
        return address;
    }

    @Override
    public void close() {
        rows.close();
        carried.close();
    }
}
