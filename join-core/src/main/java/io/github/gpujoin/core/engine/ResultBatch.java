// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Some results of one probe chunk, in columns of native memory that the engine owns. Valid until
 * the next poll or the close of the engine.
 *
 * <p>Rows are ordered by probe row. All results of probe rows before {@link #completedRows()} are
 * in this batch or an earlier one. Later probe rows may have some results already, which are
 * repeated if the join restarts at such a row. Callers therefore record progress only up to {@code
 * completedRows}.
 *
 * <p>An engine may extend this class and prepare a column when its address is first asked for.
 */
public class ResultBatch {

    private final ResultLayout layout;
    private final long address;
    private Chunk chunk;
    private int rowCount;
    private int completedRows;

    /**
     * @param address native memory of {@code layout.lengthBytes()}, owned by the engine
     */
    public ResultBatch(ResultLayout layout, long address) {
        this.layout = layout;
        this.address = address;
    }

    /** Describes what the engine just wrote; for engines only. */
    public void set(Chunk chunk, int rowCount, int completedRows) {
        this.chunk = chunk;
        this.rowCount = rowCount;
        this.completedRows = completedRows;
    }

    /**
     * Returns the layout of the columns. An engine reuses the same object as long as its row
     * addresses stay valid; no two engines share one.
     */
    public ResultLayout layout() {
        return layout;
    }

    /** Returns the probe chunk of the rows. */
    public Chunk chunk() {
        return chunk;
    }

    public int rowCount() {
        return rowCount;
    }

    /**
     * Returns the number of leading rows of the probe chunk whose results are complete with this
     * batch.
     */
    public int completedRows() {
        return completedRows;
    }

    /** Whether this is the last batch of its chunk. */
    public boolean isLast() {
        return completedRows == chunk.rowCount();
    }

    /**
     * Whether the probe rows are known to be consecutive, from {@code probeRow(0)} on. Then readers
     * can copy columns of facts instead of gathering them.
     */
    public boolean isConsecutive() {
        return false;
    }

    public long probeRowAddress() {
        return address + layout.probeRowOffset();
    }

    public long payloadAddress(int dimension, int payload) {
        return address + layout.payloadOffset(dimension, payload);
    }

    /**
     * A payload column as packed codes, from the lowest bit of the first byte on.
     *
     * @param address of the first code; 8 bytes at the byte of each code are readable
     * @param bits of a code
     * @param base added to each code
     */
    public record PackedColumn(long address, int bits, long base) {}

    /** Returns a payload column as the engine packed it, or null if only its values are there. */
    public @Nullable PackedColumn packedPayload(int dimension, int payload) {
        return null;
    }

    public long variableWidthAddress(int dimension) {
        return address + layout.variableWidthOffset(dimension);
    }

    public long matchedAddress(int dimension) {
        return address + layout.matchedOffset(dimension);
    }

    /** Whether the row has a match in the dimension. False only for left-joined dimensions. */
    public boolean isMatched(int dimension, int row) {
        return layout.matchedOffset(dimension) < 0
                || Memory.getByte(null, matchedAddress(dimension) + checkRow(row)) != 0;
    }

    /** Returns the number of the row in the probe chunk. */
    public int probeRow(int row) {
        return Memory.getInt(probeRowAddress() + 4L * checkRow(row));
    }

    /** Returns the value of an integer payload column, or the raw bits of a float. */
    public long getInteger(int dimension, int payload, int row) {
        int widthBytes = layout.payloadWidth(dimension, payload);
        long at = payloadAddress(dimension, payload) + (long) widthBytes * checkRow(row);
        return Memory.getInteger(null, at, widthBytes);
    }

    /** Returns the value of a 4-byte payload column. */
    public int getInt(int dimension, int payload, int row) {
        checkWidth(dimension, payload, Integer.BYTES);
        return Memory.getInt(payloadAddress(dimension, payload) + 4L * checkRow(row));
    }

    /** Returns the value of an 8-byte payload column. */
    public long getLong(int dimension, int payload, int row) {
        checkWidth(dimension, payload, Long.BYTES);
        return Memory.getLong(payloadAddress(dimension, payload) + 8L * checkRow(row));
    }

    /** Returns a copy of the build row's variable-width values, or null if there is no match. */
    public byte @Nullable [] variableWidth(int dimension, int row) {
        if (layout.variableWidthOffset(dimension) < 0) {
            throw new IllegalArgumentException(
                    "Dimension has no variable-width columns: dimension=" + dimension);
        }
        long ref = Memory.getLong(variableWidthAddress(dimension) + 8L * checkRow(row));
        if (ref == 0) {
            return null;
        }
        byte[] bytes = new byte[Memory.getInt(ref)];
        Memory.copy(null, ref + 4, bytes, Memory.BYTES, bytes.length);
        return bytes;
    }

    private void checkWidth(int dimension, int payload, int widthBytes) {
        if (layout.payloadWidth(dimension, payload) != widthBytes) {
            throw new IllegalArgumentException(
                    "Payload column is read with another width: dimension="
                            + dimension
                            + ", payload="
                            + payload
                            + ", expected="
                            + layout.payloadWidth(dimension, payload)
                            + ", widthBytes="
                            + widthBytes);
        }
    }

    private int checkRow(int row) {
        if (row < 0 || row >= rowCount) {
            throw new IndexOutOfBoundsException("row=" + row + ", rowCount=" + rowCount);
        }
        return row;
    }
}
