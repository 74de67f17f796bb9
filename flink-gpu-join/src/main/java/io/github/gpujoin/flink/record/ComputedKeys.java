// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/**
 * Computes the {@link KeyColumn}s of one record after the other. Values are valid until the next
 * {@link #read}. Not thread-safe.
 */
final class ComputedKeys<T> {

    private final List<KeyColumn<T>> columns;
    private final SelectedKey.Reader<T, ?>[] readers;
    private final boolean[] isPresent;
    private long row = ThreadLocalRandom.current().nextLong();

    @SuppressWarnings({"unchecked", "rawtypes"})
    ComputedKeys(List<KeyColumn<T>> columns) {
        this.columns = columns;
        this.readers =
                columns.stream()
                        .map(column -> column.key().reader())
                        .toArray(SelectedKey.Reader[]::new);
        this.isPresent = new boolean[readers.length];
    }

    void read(T record) throws Exception {
        row++;
        for (int i = 0; i < readers.length; i++) {
            isPresent[i] = readers[i].read(record);
        }
    }

    /** Returns the unique number of the record. */
    long row() {
        return row;
    }

    /** Returns the number of the key with such an integer column, or -1. */
    int indexOfInteger(String name) {
        return indexOf(name, KeyColumn::name);
    }

    /** Returns the number of the key with such a column of bytes, or -1. */
    int indexOfBytes(String name) {
        return indexOf(name, KeyColumn::bytesName);
    }

    private int indexOf(String name, Function<KeyColumn<T>, String> of) {
        for (int key = 0; key < readers.length; key++) {
            if (of.apply(columns.get(key)).equals(name)) {
                return key;
            }
        }
        return -1;
    }

    /** Returns a reader of a key's integer, for the record that was read last. */
    IntegerReader<T> integerOf(int key) {
        SelectedKey.Reader<T, ?> reader = readers[key];
        return new IntegerReader<>() {
            @Override
            public boolean isNull(T record) {
                return !isPresent[key];
            }

            @Override
            public long read(T record) {
                return reader.integer();
            }
        };
    }

    /** Returns a writer of a key's canonical bytes, for the record that was read last. */
    ColumnWriter<T> bytesOf(int key) {
        SelectedKey.Reader<T, ?> reader = readers[key];
        return (record, target) -> {
            if (isPresent[key]) {
                KeyBytes bytes = reader.canonicalOfEncoded();
                target.addBytes(bytes.array(), 0, bytes.length());
            } else {
                target.addNull();
            }
        };
    }
}
