// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Computes the {@link KeyColumn}s of one record after the other. Not thread-safe. */
final class ComputedKeys<T> {

    private final List<KeyColumn<T>> columns;
    private final List<? extends SelectedKey.Reader<T, ?>> readers;
    private final Number[] integers;
    private long row = ThreadLocalRandom.current().nextLong();

    ComputedKeys(List<KeyColumn<T>> columns) {
        this.columns = columns;
        this.readers = columns.stream().map(column -> column.key().reader()).toList();
        this.integers = new Number[columns.size()];
    }

    /** Reads the keys of a record; getters return their values until the next call. */
    void read(T record) throws Exception {
        row++;
        for (int i = 0; i < integers.length; i++) {
            integers[i] = readers.get(i).integer(record);
        }
    }

    /** Returns a getter of a key column's values, or null if the column is not a key column. */
    RecordShape.@Nullable Getter<T> getter(String name) {
        if (name.equals(KeyColumn.ROW_NAME)) {
            return record -> row;
        }
        for (int i = 0; i < integers.length; i++) {
            int key = i;
            if (name.equals(columns.get(i).name())) {
                return record -> integers[key];
            }
            if (name.equals(columns.get(i).bytesName())) {
                return record -> bytes(key);
            }
        }
        return null;
    }

    private @Nullable KeyBytes bytes(int key) {
        return integers[key] == null ? null : readers.get(key).canonicalOfEncoded();
    }
}
