// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

/**
 * Decodes the values of one page, nulls left out. A subclass decodes integers or byte sequences, as
 * the column's type requires. Not thread-safe.
 */
abstract class ValueDecoder {

    /**
     * Decodes integers, or the bits of floats and booleans.
     *
     * @param from index of the first one in {@code into}
     */
    void readLongs(long[] into, int from, int count) {
        throw new UnsupportedOperationException("not of integers");
    }

    /** Decodes byte sequences to numbers from {@code from} on. */
    void readBinaries(Binaries into, int from, int count) {
        throw new UnsupportedOperationException("not of byte sequences");
    }

    /**
     * Decodes integers to a column of a chunk, if that is faster than {@link #readLongs}.
     *
     * @param at offset in {@code target}
     * @param widthBytes of the column
     * @return false if nothing was decoded
     */
    boolean readColumn(byte[] target, int at, int widthBytes, int count) {
        return false;
    }

    private long[] allLongs = new long[0];

    /**
     * Decodes some of the next integers, and skips all others.
     *
     * @param into by row number
     * @param rows the selected row numbers, ascending, {@code rows[from]} to {@code rows[end - 1]}
     * @param first row number of the next value
     * @param count number of values that are passed
     */
    void selectLongs(long[] into, int[] rows, int from, int end, int first, int count) {
        if (allLongs.length < count) {
            allLongs = new long[count];
        }
        readLongs(allLongs, 0, count);
        for (int i = from; i < end; i++) {
            into[rows[i]] = allLongs[rows[i] - first];
        }
    }

    /** Decodes some of the next byte sequences, like {@link #selectLongs}. */
    void selectBinaries(Binaries into, int[] rows, int from, int end, int first, int count) {
        Binaries all = new Binaries(count);
        readBinaries(all, 0, count);
        for (int i = from; i < end; i++) {
            into.set(rows[i], all, rows[i] - first);
        }
    }

    /** Skips values of either kind. */
    abstract void skip(int count);
}
