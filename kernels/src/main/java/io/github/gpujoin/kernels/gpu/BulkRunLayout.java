// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkKeyEncoder;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.ChunkSchema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Byte layout of a run: a fixed number of rows of one input of a bulk join, stored by columns, so
 * that columns of chunks are copied as they are and one copy passes a run to the device. Only the
 * last run of an input may have fewer rows; its offsets are the same. Immutable.
 *
 * <pre>
 *  0         RUN_ROWS * wordBytes                                           lengthBytes
 *  +---------+---------------+-----------------------------+---------------------------+
 *  | word[]  | key record[], | variable-width reference[], | each fixed-width column[],|
 *  |         | if hashed     | if any                      | the widest first          |
 *  +---------+---------------+-----------------------------+---------------------------+
 * </pre>
 *
 * <p>A word is that of the key, see {@link BulkKeyEncoder}: exact, so that columns in the word are
 * not stored again, or a hash of 8 bytes. Then a key record is the int64 address, in device memory,
 * of the key bytes, see {@link KeyArena}; undefined if the row is not joined. A reference is the
 * int64 address, in host memory, of the variable-width columns of results: int32 length of all,
 * then for each of them int32 length (-1 for null) and the value.
 */
final class BulkRunLayout {

    /** The same number as in {@code run_rows.h}. */
    static final int RUN_ROWS = 49_152;

    /**
     * Where the values of a column are in a run.
     *
     * @param offset of the first value, in bytes
     * @param strideBytes from one value to the next
     * @param widthBytes of a value
     */
    record Source(long offset, int strideBytes, int widthBytes) {}

    private static final int NONE = -1;

    private final ChunkSchema schema;
    private final int wordBytes;
    private final boolean hasKeyRecords;
    private final int[] wordOffsets;
    private final int[] runOffsets;
    private final List<Integer> storedColumns = new ArrayList<>();
    private final List<Integer> variableWidthColumns = new ArrayList<>();
    private final int referenceOffset;
    private final int lengthBytes;

    BulkRunLayout(BulkJoinSpec spec, JoinSide side) {
        this.schema = spec.input(side).schema();
        this.hasKeyRecords = !BulkKeyEncoder.isExact(spec);
        this.wordBytes = wordBytes(spec);
        this.wordOffsets = new int[schema.size()];
        this.runOffsets = new int[schema.size()];
        Arrays.fill(wordOffsets, NONE);
        for (int column : spec.outputColumns(side)) {
            wordOffsets[column] = BulkKeyEncoder.wordOffset(spec, side, column);
            if (!schema.column(column).isFixed()) {
                variableWidthColumns.add(column);
            } else if (wordOffsets[column] < 0) {
                storedColumns.add(column);
            }
        }
        storedColumns.sort(Comparator.comparing(column -> -widthBytes(column)));
        int next = RUN_ROWS * wordBytes;
        if (hasKeyRecords) {
            next += RUN_ROWS * Long.BYTES;
        }
        this.referenceOffset = variableWidthColumns.isEmpty() ? NONE : next;
        if (!variableWidthColumns.isEmpty()) {
            next += RUN_ROWS * Long.BYTES;
        }
        for (int column : storedColumns) {
            runOffsets[column] = next;
            next = Math.addExact(next, RUN_ROWS * widthBytes(column));
        }
        this.lengthBytes = next;
    }

    /** Returns the bytes of a word on the device: 4 if an exact one has no more, else 8. */
    private static int wordBytes(BulkJoinSpec spec) {
        boolean isNarrow =
                BulkKeyEncoder.isExact(spec) && BulkKeyEncoder.wordBytes(spec) <= Integer.BYTES;
        return isNarrow ? Integer.BYTES : Long.BYTES;
    }

    int wordBytes() {
        return wordBytes;
    }

    int widthBytes(int column) {
        return schema.column(column).type().widthBytes();
    }

    int lengthBytes() {
        return lengthBytes;
    }

    /** Returns the columns that are copied from chunks. */
    List<Integer> storedColumns() {
        return storedColumns;
    }

    /** Returns the variable-width columns of results, in their order there. */
    List<Integer> variableWidthColumns() {
        return variableWidthColumns;
    }

    /** Whether words are hashes, so that each row has a key record. */
    boolean hasKeyRecords() {
        return hasKeyRecords;
    }

    /**
     * Returns the offset of the addresses of key records, where {@code key_record.h} reads them.
     */
    int keyRecordOffset() {
        return RUN_ROWS * wordBytes;
    }

    boolean hasReferences() {
        return referenceOffset != NONE;
    }

    int referenceOffset() {
        return referenceOffset;
    }

    /** Returns the offset of a stored column. */
    int offset(int column) {
        return runOffsets[column];
    }

    /** Returns where a fixed-width column of results is. */
    Source source(int column) {
        int width = widthBytes(column);
        return wordOffsets[column] >= 0
                ? new Source(wordOffsets[column], wordBytes, width)
                : new Source(runOffsets[column], width, width);
    }

    /** Returns all columns of a run: words, key records, references and stored columns. */
    List<Source> columns() {
        List<Source> columns = new ArrayList<>();
        columns.add(new Source(0, wordBytes, wordBytes));
        if (hasKeyRecords) {
            columns.add(new Source(keyRecordOffset(), Long.BYTES, Long.BYTES));
        }
        if (hasReferences()) {
            columns.add(references());
        }
        storedColumns.forEach(column -> columns.add(source(column)));
        return columns;
    }

    Source references() {
        return new Source(referenceOffset, Long.BYTES, Long.BYTES);
    }
}
