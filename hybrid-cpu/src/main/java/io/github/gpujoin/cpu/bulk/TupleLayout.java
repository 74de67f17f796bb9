// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkKeyEncoder;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Byte layout of a row of one input in its partition: the word of the key, and the columns that
 * results need. Immutable.
 *
 * <pre>
 *  0              8                       columnsOffset                    tupleBytes
 *  +--------------+-----------------------+--------------------------------+---------+
 *  | int64 word   | int64 outOfLine,      | fixed-width columns,           | padding |
 *  |              | if there is any       | the widest first               | to 8    |
 *  +--------------+-----------------------+--------------------------------+---------+
 *
 *  outOfLine is an address of:
 *    int32 keyBytes, then the key bytes         unless words are exact
 *    int32 valueBytes, then the variable-width columns of results, each
 *      int32 length (-1 for null) and the value     if there are such columns
 * </pre>
 *
 * <p>Columns that are in an exact word are not stored again. Address 0 of a word is its lowest
 * byte.
 */
final class TupleLayout {

    private static final int OUT_OF_LINE_OFFSET = 8;

    private final boolean hasKeyBytes;
    private final int[] offsets;
    private final List<Integer> storedColumns = new ArrayList<>();
    private final List<Integer> variableWidthColumns = new ArrayList<>();
    private final ChunkSchema schema;
    private final int tupleBytes;

    TupleLayout(BulkJoinSpec spec, JoinSide side) {
        this.schema = spec.input(side).schema();
        this.hasKeyBytes = !BulkKeyEncoder.isExact(spec);
        this.offsets = new int[schema.size()];
        Arrays.fill(offsets, -1);
        for (int column : spec.outputColumns(side)) {
            offsets[column] = BulkKeyEncoder.wordOffset(spec, side, column);
            if (!schema.column(column).isFixed()) {
                variableWidthColumns.add(column);
            } else if (offsets[column] < 0) {
                storedColumns.add(column);
            }
        }
        storedColumns.sort(Comparator.comparing(column -> -widthBytes(column)));
        int next = OUT_OF_LINE_OFFSET + (hasOutOfLine() ? Long.BYTES : 0);
        for (int column : storedColumns) {
            offsets[column] = next;
            next += widthBytes(column);
        }
        this.tupleBytes = next + 7 & -8;
    }

    int tupleBytes() {
        return tupleBytes;
    }

    int widthBytes(int column) {
        return schema.column(column).type().widthBytes();
    }

    /** Returns the offset of a fixed-width column that results need. */
    int offset(int column) {
        return offsets[column];
    }

    /** Returns the fixed-width columns behind the word. */
    List<Integer> storedColumns() {
        return storedColumns;
    }

    /** Returns the variable-width columns that results need, in the order of results. */
    List<Integer> variableWidthColumns() {
        return variableWidthColumns;
    }

    boolean hasKeyBytes() {
        return hasKeyBytes;
    }

    boolean hasOutOfLine() {
        return hasKeyBytes || !variableWidthColumns.isEmpty();
    }

    int outOfLineOffset() {
        return OUT_OF_LINE_OFFSET;
    }

    /** Returns the bytes at an address to which a tuple refers. */
    long outOfLineBytes(long outOfLine) {
        long bytes = 0;
        if (hasKeyBytes) {
            bytes += 4L + Memory.getInt(outOfLine);
        }
        if (!variableWidthColumns.isEmpty()) {
            bytes += 4L + Memory.getInt(outOfLine + bytes);
        }
        return bytes;
    }
}
