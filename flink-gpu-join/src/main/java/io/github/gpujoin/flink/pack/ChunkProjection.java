// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordLayout;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Selects and orders the columns of chunks that the join reads. A selected key column that is
 * nullable becomes fixed. A row with a null key matches nothing and is dropped, unless the
 * projection {@linkplain #keepingNullKeys keeps} it. Immutable.
 */
public final class ChunkProjection implements Serializable {

    /** Result of {@link #sourceColumn} for the column of null keys. */
    static final int NULL_KEYS = -1;

    private static final long serialVersionUID = 1L;

    private final ChunkSchema source;
    private final ChunkSchema target;
    private final int[] sourceColumns;
    private final int[] nullableKeys;
    private final Map<String, Integer> nullKeyBits;

    private ChunkProjection(
            ChunkSchema source, ChunkSchema target, Map<String, Integer> nullKeyBits) {
        this(
                source,
                target,
                nullKeyBits,
                target.columns().stream()
                        .mapToInt(
                                c ->
                                        c.name().equals(RecordLayout.NULL_KEYS)
                                                ? NULL_KEYS
                                                : source.require(c.name()))
                        .toArray());
    }

    private ChunkProjection(
            ChunkSchema source,
            ChunkSchema target,
            Map<String, Integer> nullKeyBits,
            int[] sourceColumns) {
        this.source = source;
        this.target = target;
        this.nullKeyBits = Map.copyOf(nullKeyBits);
        this.sourceColumns = sourceColumns;
        List<Integer> nullable = new ArrayList<>();
        for (int i = 0; i < target.size(); i++) {
            int column = sourceColumns[i];
            if (column != NULL_KEYS
                    && target.column(i).isFixed()
                    && !source.column(column).isFixed()) {
                nullable.add(column);
            }
        }
        this.nullableKeys = nullable.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Returns a projection that keeps all columns and rows. */
    public static ChunkProjection identity(ChunkSchema schema) {
        return new ChunkProjection(
                schema, schema, Map.of(), IntStream.range(0, schema.size()).toArray());
    }

    /**
     * Returns this projection, but with rows where one of the keys is null. Like {@link
     * RecordLayout#keepingNullKeys}, it appends the column {@link RecordLayout#NULL_KEYS}, unless
     * none of the keys is nullable. The value in a key column is undefined where the key is null.
     *
     * @param bits bits to set in the appended column where a key is null, by key column
     */
    public ChunkProjection keepingNullKeys(Map<String, Integer> bits) {
        Map<String, Integer> kept = new HashMap<>(bits);
        kept.keySet().removeIf(key -> source.column(source.require(key)).isFixed());
        if (kept.isEmpty()) {
            return this;
        }
        List<Column> columns = new ArrayList<>(target.columns());
        columns.add(Column.of(RecordLayout.NULL_KEYS, ColumnType.INT32));
        return new ChunkProjection(source, ChunkSchema.of(columns), kept);
    }

    /** Returns the bits of each nullable key in the column of null keys; empty if there is none. */
    public Map<String, Integer> nullKeyBits() {
        return nullKeyBits;
    }

    /** Returns the bits of a nullable key column of the source; 0 if its nulls drop the row. */
    int nullKeyBits(int sourceColumn) {
        return nullKeyBits.getOrDefault(source.column(sourceColumn).name(), 0);
    }

    /**
     * Creates a projection that drops rows with a null key.
     *
     * @param columns names of the selected columns, in order
     * @param keys names of the join keys, a subset of {@code columns}
     * @throws IllegalArgumentException if the source lacks a column, or a key is not selected or
     *     not an integer
     */
    public static ChunkProjection of(
            ChunkSchema source, List<String> columns, Collection<String> keys) {
        List<Column> wanted = new ArrayList<>();
        for (String name : columns) {
            Column column = source.column(source.require(name));
            if (keys.contains(name)) {
                if (!column.type().isInteger()) {
                    throw new IllegalArgumentException(
                            "Unsupported type of a join key: column=%s. Use an integer column."
                                    .formatted(column));
                }
                column = Column.of(name, column.type());
            }
            wanted.add(column);
        }
        for (String key : keys) {
            if (!columns.contains(key)) {
                throw new IllegalArgumentException(
                        "Join key is not selected: key=%s, columns=%s. Add it to the columns."
                                .formatted(key, columns));
            }
        }
        return new ChunkProjection(source, ChunkSchema.of(wanted), Map.of());
    }

    /** Returns the schema of the chunks before the projection. */
    public ChunkSchema source() {
        return source;
    }

    /** Returns the schema of the chunks after the projection. */
    public ChunkSchema schema() {
        return target;
    }

    /** Returns a field for each column of {@link #schema()}, in order. */
    public List<RecordField> fields() {
        return target.columns().stream().map(RecordField::ofColumn).toList();
    }

    /** Returns whether the projection leaves all columns as they are. */
    public boolean isIdentity() {
        return source.equals(target);
    }

    /** Returns the indexes of the nullable key columns in the source. */
    int[] nullableKeys() {
        return nullableKeys;
    }

    /**
     * Returns the index in the source of column {@code column} of {@link #schema()}; {@link
     * #NULL_KEYS} for the column of null keys, which the source lacks.
     */
    int sourceColumn(int column) {
        return sourceColumns[column];
    }

    /** Creates a copier of rows, which is not thread-safe. */
    ChunkCopier copier() {
        return new ChunkCopier(this);
    }
}
