package io.github.gpujoin.core.layout;

/**
 * One row of a chunk, for predicates and tests. A view is a cursor that is moved from row to row:
 * valid until it moves, not thread-safe.
 */
public interface RowView {

    ChunkSchema schema();

    boolean isNull(int column);

    /** Value of an INT32 column that is not null here. */
    int getInt(int column);

    /** Value of an INT32 or INT64 column that is not null here. */
    long getLong(int column);

    /** Value of a FLOAT32 or FLOAT64 column that is not null here. */
    double getDouble(int column);

    /** Value of a STRING column, null where it is null. */
    String getString(int column);

    /** Value of a BYTES column, a copy; null where it is null. */
    byte[] getBytes(int column);

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
