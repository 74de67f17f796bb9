// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/**
 * Computes the {@link KeyColumn}s of many records at once: integers in an array for each key, and
 * canonical bytes one after the other. Values are valid until the next {@link #read}. Not
 * thread-safe.
 */
public final class BatchKeys<T> {

    private final List<KeyColumn<T>> columns;
    private final SelectedKey.Reader<T, ?>[] readers;
    private final boolean[] hasBytes;
    private final long[][] integers;
    private final KeyBytes bytes = new KeyBytes();

    /** Where a key's bytes start in {@link #bytes}, and their number, for each key and record. */
    private final int[][] starts;

    private final int[][] lengths;
    private long firstRow = ThreadLocalRandom.current().nextLong();
    private int recordCount;

    @SuppressWarnings({"unchecked", "rawtypes"})
    BatchKeys(List<KeyColumn<T>> columns, int capacity) {
        int count = columns.size();
        this.columns = columns;
        this.readers = new SelectedKey.Reader[count];
        this.hasBytes = new boolean[count];
        for (int key = 0; key < count; key++) {
            readers[key] = columns.get(key).key().reader();
            hasBytes[key] = !columns.get(key).key().layout().isExact();
        }
        this.integers = new long[count][capacity];
        this.starts = new int[count][capacity];
        this.lengths = new int[count][capacity];
    }

    /**
     * Reads the keys of the first {@code count} records.
     *
     * @param rows receives the numbers of the records all of whose keys can match
     * @return number of these
     */
    public int read(T[] records, int count, int[] rows) throws Exception {
        firstRow += recordCount;
        recordCount = count;
        bytes.clear();
        int kept = 0;
        for (int row = 0; row < count; row++) {
            rows[kept] = row;
            kept += read(records[row], row) ? 1 : 0;
        }
        return kept;
    }

    private boolean read(T record, int row) throws Exception {
        for (int key = 0; key < readers.length; key++) {
            SelectedKey.Reader<T, ?> reader = readers[key];
            if (!reader.read(record)) {
                return false;
            }
            integers[key][row] = reader.integer();
            if (hasBytes[key]) {
                starts[key][row] = bytes.length();
                lengths[key][row] = bytes.append(reader.canonicalOfEncoded());
            }
        }
        return true;
    }

    /** Returns the number of the key with such an integer column, or -1. */
    public int indexOfInteger(String name) {
        return indexOf(name, KeyColumn::name);
    }

    /** Returns the number of the key with such a column of bytes, or -1. */
    int indexOfBytes(String name) {
        return indexOf(name, KeyColumn::bytesName);
    }

    private int indexOf(String name, Function<KeyColumn<T>, String> of) {
        for (int key = 0; key < columns.size(); key++) {
            if (of.apply(columns.get(key)).equals(name)) {
                return key;
            }
        }
        return -1;
    }

    /** Returns the integers of a key, by the number of the record. */
    public long[] integers(int key) {
        return integers[key];
    }

    /** Returns the unique number of the first record; that of record {@code i} is larger by i. */
    public long firstRow() {
        return firstRow;
    }

    byte[] bytes() {
        return bytes.array();
    }

    int start(int key, int row) {
        return starts[key][row];
    }

    int length(int key, int row) {
        return lengths[key][row];
    }
}
