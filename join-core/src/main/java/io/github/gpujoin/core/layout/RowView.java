// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

/**
 * One row of a chunk, for predicates and tests. A view is a cursor: its values are valid until it
 * moves to another row. Not thread-safe.
 */
public interface RowView {

    ChunkSchema schema();

    boolean isNull(int column);

    /** Returns the value of an INT8, INT16 or INT32 column that is not null in this row. */
    int getInt(int column);

    /** Returns the value of an integer column that is not null in this row. */
    long getLong(int column);

    /** Returns the value of a FLOAT32 or FLOAT64 column that is not null in this row. */
    double getDouble(int column);

    /** Returns the value of a STRING column, or null if it is null. */
    String getString(int column);

    /** Returns a copy of the value of a BYTES column, or null if it is null. */
    byte[] getBytes(int column);

    /**
     * Tells whether the value of a STRING column is a text, without an object for the value.
     *
     * @param utf8 the text in UTF-8
     * @return false also if the value is null
     */
    boolean isText(int column, byte[] utf8);

    default int getInt(String column) {
        return getInt(schema().require(column));
    }

    default long getLong(String column) {
        return getLong(schema().require(column));
    }

    default double getDouble(String column) {
        return getDouble(schema().require(column));
    }

    default String getString(String column) {
        return getString(schema().require(column));
    }

    default byte[] getBytes(String column) {
        return getBytes(schema().require(column));
    }

    default boolean isNull(String column) {
        return isNull(schema().require(column));
    }
}
