package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Which columns of columnar chunks are wanted, and in which order. A wanted nullable integer column
 * that is a key becomes fixed; rows with a null there match nothing and are dropped. Immutable.
 */
public final class ChunkProjection implements Serializable {

    private static final long serialVersionUID = 1L;

    private final ChunkSchema source;
    private final ChunkSchema target;
    private final int[] sourceColumns;
    private final int[] nullableKeys;

    private ChunkProjection(ChunkSchema source, ChunkSchema target) {
        this.source = source;
        this.target = target;
        this.sourceColumns =
                target.columns().stream().mapToInt(c -> source.require(c.name())).toArray();
        List<Integer> nullable = new ArrayList<>();
        for (int i = 0; i < target.size(); i++) {
            if (target.column(i).isFixed() && !source.column(sourceColumns[i]).isFixed()) {
                nullable.add(sourceColumns[i]);
            }
        }
        this.nullableKeys = nullable.stream().mapToInt(Integer::intValue).toArray();
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
                            "a join key is an INT32 or INT64 column: column=" + column);
                }
                column = Column.of(name, column.type());
            }
            wanted.add(column);
        }
        for (String key : keys) {
            if (!columns.contains(key)) {
                throw new IllegalArgumentException(
                        "a key is one of the wanted columns: key=" + key + ", columns=" + columns);
            }
        }
        return new ChunkProjection(source, ChunkSchema.of(wanted));
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

    /** Column of the source in which a null means that the row is dropped. */
    int[] nullableKeys() {
        return nullableKeys;
    }

    /** Column of the source that is column {@code column} of {@link #schema()}. */
    int sourceColumn(int column) {
        return sourceColumns[column];
    }

    /** Copies rows of chunks into builders, for one thread. */
    ChunkCopier copier() {
        return new ChunkCopier(this);
    }
}
