// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.List;

/**
 * Byte layout of a build row in device memory. Immutable.
 *
 * <pre>
 *  0        8        12                                            rowBytes
 *  +--------+--------+----------------------+----------------------+
 *  | key,   | next,  | payloads of 4, of 2, | 8-byte payloads;     |
 *  | int64  | uint32 | of 1 byte; padded to | then variableWidthRef|
 *  |        |        | 8 bytes              |                      |
 *  +--------+--------+----------------------+----------------------+
 * </pre>
 *
 * <p>Payloads of one width are in schema order. Every field is aligned to its width. {@code next}
 * links the rows of a slot; only kernels write it. For variableWidthRef see {@link
 * io.github.gpujoin.core.engine.ResultLayout}.
 */
final class BuildRowLayout {

    private final DimensionSpec dimension;
    private final List<Integer> payloadColumns;
    private final int[] payloadOffsets;
    private final int[] payloadWidths;
    private final int variableWidthOffset;
    private final int rowBytes;

    BuildRowLayout(DimensionSpec dimension) {
        this.dimension = dimension;
        this.payloadColumns = dimension.payloadColumns();
        this.payloadOffsets = new int[payloadColumns.size()];
        this.payloadWidths = new int[payloadColumns.size()];
        int next = assignOffsets(Integer.BYTES, PlanDescriptor.ROW_PAYLOAD_OFFSET);
        next = assignOffsets(Short.BYTES, next);
        next = assignOffsets(Byte.BYTES, next);
        next = assignOffsets(Long.BYTES, (next + 7) & -8);
        this.variableWidthOffset = dimension.hasVariableWidthPayload() ? next : -1;
        this.rowBytes = dimension.hasVariableWidthPayload() ? next + Long.BYTES : next;
    }

    private int assignOffsets(int widthBytes, int offset) {
        int next = offset;
        for (int i = 0; i < payloadOffsets.length; i++) {
            ColumnType type = dimension.schema().column(payloadColumns.get(i)).type();
            if (type.widthBytes() == widthBytes) {
                payloadOffsets[i] = next;
                payloadWidths[i] = widthBytes;
                next += widthBytes;
            }
        }
        return next;
    }

    /** Returns the column of the build chunks that holds the key. */
    int keyColumn() {
        return dimension.keyColumn();
    }

    ColumnType keyType() {
        return dimension.schema().column(dimension.keyColumn()).type();
    }

    int payloadCount() {
        return payloadOffsets.length;
    }

    /** Returns the column of the build chunks that holds the payload. */
    int payloadColumn(int payload) {
        return payloadColumns.get(payload);
    }

    int payloadOffset(int payload) {
        return payloadOffsets[payload];
    }

    int payloadWidth(int payload) {
        return payloadWidths[payload];
    }

    /** Returns the offset of the variableWidthRef, or -1 if rows have none. */
    int variableWidthOffset() {
        return variableWidthOffset;
    }

    /**
     * Returns the column of the build chunks that holds the row change, or -1 if the dimension is
     * no changelog.
     */
    int changeColumn() {
        return dimension.isChangelog() ? dimension.changeColumn() : -1;
    }

    int rowBytes() {
        return rowBytes;
    }
}
