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

/**
 * Which columns of columnar chunks are wanted, and in which order. A wanted nullable integer column
 * that is a key becomes fixed; rows with a null there match nothing and are dropped, unless the
 * projection {@linkplain #keepingNullKeys keeps} them. Immutable.
 */
public final class ChunkProjection implements Serializable {

    /** For {@link #sourceColumn}. */
    static final int NULL_KEYS = -1;

    private static final long serialVersionUID = 1L;

    private final ChunkSchema source;
    private final ChunkSchema target;
    private final int[] sourceColumns;
    private final int[] nullableKeys;
    private final Map<String, Integer> nullKeyBits;

    private ChunkProjection(
            ChunkSchema source, ChunkSchema target, Map<String, Integer> nullKeyBits) {
        this.source = source;
        this.target = target;
        this.nullKeyBits = Map.copyOf(nullKeyBits);
        this.sourceColumns =
                target.columns().stream()
                        .mapToInt(
                                c ->
                                        c.name().equals(RecordLayout.NULL_KEYS)
                                                ? NULL_KEYS
                                                : source.require(c.name()))
                        .toArray();
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

    /**
     * The same projection, which keeps rows where such a key is null, as {@link
     * RecordLayout#keepingNullKeys} does.
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

    /** Of each key column that may be null, its bits in the column of null keys. */
    public Map<String, Integer> nullKeyBits() {
        return nullKeyBits;
    }

    /** Bits of a nullable key of the source, 0 where a null drops the row. */
    int nullKeyBits(int sourceColumn) {
        return nullKeyBits.getOrDefault(source.column(sourceColumn).name(), 0);
    }

    /**
     * @param columns names of the wanted columns, in order
     * @param keys those of them that are join keys
     * @throws IllegalArgumentException where a column is missing or cannot be a key
     */
    public static ChunkProjection of(
            ChunkSchema source, List<String> columns, Collection<String> keys) {
        List<Column> wanted = new ArrayList<>();
        for (String name : columns) {
            Column column = source.column(source.require(name));
            if (keys.contains(name)) {
                if (!column.type().isInteger()) {
                    throw new IllegalArgumentException(
                            "Join key is not an INT32 or INT64 column: column=" + column);
                }
                column = Column.of(name, column.type());
            }
            wanted.add(column);
        }
        for (String key : keys) {
            if (!columns.contains(key)) {
                throw new IllegalArgumentException(
                        "A key is not among the selected columns: key="
                                + key
                                + ", columns="
                                + columns);
            }
        }
        return new ChunkProjection(source, ChunkSchema.of(wanted), Map.of());
    }

    /** Schema of the chunks that come in. */
    public ChunkSchema source() {
        return source;
    }

    /** Schema of the chunks that go out. */
    public ChunkSchema schema() {
        return target;
    }

    /** One for each column of {@link #schema()}, in order. */
    public List<RecordField> fields() {
        return target.columns().stream().map(RecordField::ofColumn).toList();
    }

    /** Whether chunks go out with the columns they came with. */
    public boolean isIdentity() {
        return source.equals(target);
    }

    /** Keys in the source in which there may be a null. */
    int[] nullableKeys() {
        return nullableKeys;
    }

    /**
     * Column of the source that is column {@code column} of {@link #schema()}; {@value #NULL_KEYS}
     * for the column of null keys, which the source does not have.
     */
    int sourceColumn(int column) {
        return sourceColumns[column];
    }

    /** Copies rows of chunks into builders, for one thread. */
    ChunkCopier copier() {
        return new ChunkCopier(this);
    }
}
