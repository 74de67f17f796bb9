// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import java.util.Arrays;
import java.util.List;

/**
 * Encodes some fixed-width columns of one stream: their entries, then their bodies, as {@link
 * EncodedColumnDescriptor} draws them. Not thread-safe.
 *
 * <p>Columns of one stream resemble each other from chunk to chunk. So every {@value
 * #SELECTION_INTERVAL}th call selects the shortest plan of each column, and the calls between use
 * it. If encoding saves less than one eighth of the bytes, nothing is encoded; if a selecting call
 * finds that, the next ones do not even measure.
 */
public final class ColumnsEncoder {

    /** Calls from one selection of plans to the next. */
    static final int SELECTION_INTERVAL = 64;

    /** Rows are encoded if that leaves at most this share of their bytes. */
    private static final double MAX_SHARE = 7.0 / 8;

    /** A body this much longer than at its selection, a row, makes the next call select again. */
    private static final double MAX_GROWTH = 1.25;

    private final int[] columns;
    private final EncodingPlan[] plans;
    private final double[] rowBytes;
    private final ColumnEncoder encoder = new ColumnEncoder();
    private byte[] bytes = new byte[0];
    private boolean paysOff;
    private int callsToSelection;

    /**
     * @param columns fixed-width columns of the chunks, in the order of their entries
     */
    public ColumnsEncoder(List<Integer> columns) {
        this.columns = columns.stream().mapToInt(Integer::intValue).toArray();
        this.plans = new EncodingPlan[this.columns.length];
        this.rowBytes = new double[this.columns.length];
    }

    /**
     * Encodes a range of rows to {@link #bytes()}, behind {@link ChunkDescriptor#HEADER_BYTES}
     * bytes for a header.
     *
     * @param rowCount at least 1
     * @param plainBytes of the header and the same rows without encoding, and of all else that is
     *     sent with them
     * @param otherBytes what is sent with the columns
     * @return the end of the bodies, a multiple of 16; 0 if encoding does not pay
     */
    public int encode(Chunk chunk, int firstRow, int rowCount, long plainBytes, long otherBytes) {
        boolean selects = callsToSelection == 0;
        callsToSelection = selects ? SELECTION_INTERVAL - 1 : callsToSelection - 1;
        if (columns.length == 0 || !selects && !paysOff) {
            return 0;
        }
        int end = encodeColumns(chunk, firstRow, rowCount, selects);
        boolean pays = end + otherBytes <= MAX_SHARE * plainBytes;
        if (selects) {
            paysOff = pays;
        }
        return pays ? end : 0;
    }

    /**
     * Returns the bytes that {@link #encode} has written; they are overwritten by its next call.
     */
    public byte[] bytes() {
        return bytes;
    }

    private int encodeColumns(Chunk chunk, int firstRow, int rowCount, boolean selects) {
        int entry = ChunkDescriptor.HEADER_BYTES;
        int end = entry + columns.length * EncodedColumnDescriptor.ENTRY_BYTES;
        reserve(entry, end);
        for (int i = 0; i < columns.length; i++) {
            if (selects) {
                encoder.load(chunk, columns[i], firstRow, rowCount);
                plans[i] = encoder.select();
                rowBytes[i] = (double) encoder.bodyBytes() / rowCount;
            } else {
                encoder.load(chunk, columns[i], firstRow, rowCount, plans[i]);
                if (encoder.bodyBytes() > MAX_GROWTH * rowBytes[i] * rowCount) {
                    callsToSelection = 0;
                }
            }
            int bodyBytes = (int) encoder.bodyBytes();
            reserve(end, (long) end + bodyBytes);
            encoder.write(bytes, entry, end);
            entry += EncodedColumnDescriptor.ENTRY_BYTES;
            end += bodyBytes;
        }
        return end;
    }

    /** Clears bytes, since packing needs zeros. */
    private void reserve(int from, long to) {
        if (to > bytes.length) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 64, 2 * to));
        }
        Arrays.fill(bytes, from, (int) to, (byte) 0);
    }
}
