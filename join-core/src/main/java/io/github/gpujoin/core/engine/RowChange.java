// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

/** What a row of a changelog dimension does to the row of its key. */
public enum RowChange {
    /** Inserts or replaces the row of the key. */
    UPSERT,
    /** Deletes the row of the key. Only the key of the row is read. */
    DELETE;

    private static final RowChange[] ALL = values();

    /** Returns the value in the {@linkplain DimensionSpec#changeColumn() change column}. */
    public int code() {
        return ordinal();
    }

    /**
     * Returns the change with a code.
     *
     * @throws IllegalArgumentException if the code is unknown
     */
    public static RowChange of(int code) {
        if (code < 0 || code >= ALL.length) {
            throw new IllegalArgumentException(
                    "Change code is unknown (0 upsert, 1 delete): code=" + code);
        }
        return ALL[code];
    }
}
