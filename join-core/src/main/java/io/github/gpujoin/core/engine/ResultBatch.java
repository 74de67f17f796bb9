package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;

/**
 * Some results of one probe chunk, in columns of native memory that the engine owns: valid until
 * the engine's next poll or close.
 *
 * <p>Rows are in order of their probe row. {@link #completedRows()} tells how far the chunk is
 * joined: all results of probe rows before it are in this batch or an earlier one. A row at or
 * after it may have given some of its results already; they are repeated if joining starts over at
 * that row, so progress may only be recorded up to {@code completedRows}.
 */
public final class ResultBatch {

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

    /** For engines: describes what was just written. */
    public void set(Chunk chunk, int rowCount, int completedRows) {
        this.chunk = chunk;
        this.rowCount = rowCount;
        this.completedRows = completedRows;
    }

    /**
     * Where the columns stand: one object for all batches of an engine, another for each engine.
     */
    public ResultLayout layout() {
        return layout;
    }

    /** The probe chunk that the rows come from. */
    public Chunk chunk() {
        return chunk;
    }

    public int rowCount() {
        return rowCount;
    }

    /** Rows of the probe chunk whose results are all delivered with this batch. */
    public int completedRows() {
        return completedRows;
    }

    /** Whether this is the last batch of its chunk. */
    public boolean isLast() {
        return completedRows == chunk.rowCount();
    }

    public long probeRowAddress() {
        return address + layout.probeRowOffset();
    }

    public long payloadAddress(int dimension, int payload) {
        return address + layout.payloadOffset(dimension, payload);
    }

    public long carriedAddress(int dimension) {
        return address + layout.carriedOffset(dimension);
    }

    public long matchedAddress(int dimension) {
        return address + layout.matchedOffset(dimension);
    }

    /** Whether the row has a match in the dimension: not so for some of a left-joined one. */
    public boolean isMatched(int dimension, int row) {
        return layout.matchedOffset(dimension) < 0
                || Memory.getByte(null, matchedAddress(dimension) + checkRow(row)) != 0;
    }

    /** Row in the probe chunk. */
    public int probeRow(int row) {
        return Memory.getInt(probeRowAddress() + 4L * checkRow(row));
    }

    /** Value of a 4-byte payload column. */
    public int getInt(int dimension, int payload, int row) {
        checkWidth(dimension, payload, Integer.BYTES);
        return Memory.getInt(payloadAddress(dimension, payload) + 4L * checkRow(row));
    }

    /** Value of an 8-byte payload column. */
    public long getLong(int dimension, int payload, int row) {
        checkWidth(dimension, payload, Long.BYTES);
        return Memory.getLong(payloadAddress(dimension, payload) + 8L * checkRow(row));
    }

    /** A copy of the build row's carried bytes; null where there is no match. */
    public byte[] carried(int dimension, int row) {
        if (layout.carriedOffset(dimension) < 0) {
            throw new IllegalArgumentException(
                    "carried bytes are of a dimension that carries some: dimension=" + dimension);
        }
        long ref = Memory.getLong(carriedAddress(dimension) + 8L * checkRow(row));
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
                    "a payload column is read at its width: dimension="
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
