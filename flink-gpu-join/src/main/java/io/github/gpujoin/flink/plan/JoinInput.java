// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.pack.AbstractPackOperator;
import io.github.gpujoin.flink.pack.ChunkPackOperator;
import io.github.gpujoin.flink.pack.ChunkProjection;
import io.github.gpujoin.flink.pack.MeasuredPackFactory;
import io.github.gpujoin.flink.pack.PackOperator;
import io.github.gpujoin.flink.pack.PackSpec;
import io.github.gpujoin.flink.record.ChangeKey;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.KeyColumn;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordKind;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.RecordShape;
import io.github.gpujoin.flink.record.SelectedKey;
import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/**
 * An input of a join as the user described it: a stream of records or of chunks, a filter, and the
 * columns for the result. Mutable; used while the job graph is made.
 *
 * @param <R> what the filter sees: the record, or a row of a chunk
 */
public final class JoinInput<R> {

    /** What goes into the chunks of this side, and the operator that puts it there. */
    record Packed(
            ChunkSchema schema,
            List<RecordField> fields,
            Map<String, Integer> nullKeyBits,
            OneInputStreamOperator<?, Chunk> packer) {

        /** Bits in the column of null keys; 0 for all but keys that are kept when null. */
        int nullKeyBits(String column) {
            return nullKeyBits.getOrDefault(column, 0);
        }

        int column(String name) {
            return schema.require(name);
        }
    }

    /** A filter by a column, which the engine evaluates. */
    record ColumnFilter(String column, ValueRanges values) {}

    /** Ten thousand years: sums with a time of the clock do not overflow. */
    private static final Duration MAX_TTL = Duration.ofDays(3_650_000);

    private final DataStream<?> stream;
    private final boolean chunks;
    private final List<Selection> selections = new ArrayList<>();
    private final List<ColumnFilter> columnFilters = new ArrayList<>();
    private final Set<String> used = new LinkedHashSet<>();
    private String name;
    private FilterFunction<R> filter;
    private Duration ttl;
    private int generation;

    /** Null where records are not changes. */
    private MapFunction<R, RowKind> kindOfChange;

    private JoinInput(String name, DataStream<?> stream, boolean chunks) {
        this.name = name;
        this.stream = Objects.requireNonNull(stream, name);
        this.chunks = chunks;
    }

    public static <T> JoinInput<T> records(String name, DataStream<T> stream) {
        if (stream.getType() instanceof ChunkTypeInfo) {
            throw new IllegalArgumentException(
                    "Input '%s' consists of chunks. Use .ofChunks(...) or .dimensionChunks(...)."
                            .formatted(name));
        }
        return new JoinInput<>(name, stream, false);
    }

    public static JoinInput<RowView> chunks(String name, DataStream<Chunk> stream) {
        if (!(stream.getType() instanceof ChunkTypeInfo)) {
            throw new IllegalArgumentException(
                    "a stream of chunks says of what schema they are, .returns(ChunkTypeInfo.of("
                            + "schema)): input="
                            + name
                            + ", type="
                            + stream.getType());
        }
        return new JoinInput<>(name, stream, true);
    }

    public void named(String name) {
        this.name = Objects.requireNonNull(name, "name");
    }

    public void where(FilterFunction<R> filter) {
        this.filter = stream.getExecutionEnvironment().clean(filter);
    }

    /**
     * Takes records as changes of the row of their key, of the kind that they carry.
     *
     * @throws IllegalArgumentException where they carry none
     */
    @SuppressWarnings("unchecked")
    public void changelog() {
        if (!RecordKind.of(stream.getType()).hasRowKind()) {
            throw new IllegalArgumentException(
                    "records that carry no kind of change are given one, .changelog(record -> ...):"
                            + " input="
                            + name
                            + ", type="
                            + stream.getType());
        }
        changelog(
                RecordKind.of(stream.getType()) == RecordKind.ROW
                        ? (MapFunction<R, RowKind>) (MapFunction<Row, RowKind>) Row::getKind
                        : (MapFunction<R, RowKind>)
                                (MapFunction<RowData, RowKind>) RowData::getRowKind);
    }

    /** Takes records as changes of the row of their key. */
    public void changelog(MapFunction<R, RowKind> kind) {
        if (chunks) {
            throw new IllegalArgumentException(
                    "a dimension that changes is given as records, not as chunks: input=" + name);
        }
        kindOfChange = stream.getExecutionEnvironment().clean(kind);
    }

    /**
     * Takes records as changes: of the kind that they carry, or as inserted where they carry none.
     */
    public void changelogOrInserted() {
        if (RecordKind.of(stream.getType()).hasRowKind()) {
            changelog();
        } else {
            changelog(record -> RowKind.INSERT);
        }
    }

    /** Null if all rows are kept. */
    FilterFunction<R> filter() {
        return filter;
    }

    /**
     * @param generation how often the side is read again; 0 for once
     * @throws IllegalArgumentException if it is negative
     */
    public void generation(int generation) {
        if (generation < 0) {
            throw new IllegalArgumentException(
                    "Negative generation of '%s': %d. Count from 0.".formatted(name, generation));
        }
        this.generation = generation;
    }

    int generation() {
        return generation;
    }

    /**
     * Limits how long rows of this side live.
     *
     * @throws IllegalArgumentException if the time is not positive or is longer than 10,000 years
     */
    public void ttl(Duration rows) {
        if (rows.isNegative() || rows.isZero() || rows.compareTo(MAX_TTL) > 0) {
            throw new IllegalArgumentException(
                    "Time to live is out of range: input=%s, ttl=%s. Use more than 0 and at most %d days."
                            .formatted(name, rows, MAX_TTL.toDays()));
        }
        this.ttl = rows;
    }

    /** How long rows of this side live; null without limit. */
    Duration ttl() {
        return ttl;
    }

    boolean isChangelog() {
        return kindOfChange != null;
    }

    /** Keeps only rows with such a value in the column, besides what other filters keep. */
    public void where(String column, ValueRanges values) {
        columnFilters.add(new ColumnFilter(column, values));
        use(column);
    }

    /** Has a column in the chunks, whether it is selected or not. */
    void use(String column) {
        used.add(column);
    }

    List<ColumnFilter> columnFilters() {
        return columnFilters;
    }

    /** Type of the records. Keys other than integers are of records alone. */
    TypeInformation<?> recordType() {
        if (chunks) {
            throw new IllegalArgumentException(
                    "columnar chunks are joined on one integer column, that nulls do not match in;"
                            + " records on others too: input="
                            + name);
        }
        return stream.getType();
    }

    /** Whether an engine compares values of the column as they are; of chunks, it has to. */
    boolean isIntegerColumn(String column) {
        return chunks || FieldKind.of(RecordShape.of(stream.getType()).typeOf(column)).isKey();
    }

    /** All columns that there are. */
    List<String> columnNames() {
        if (chunks) {
            return ((ChunkTypeInfo) stream.getType())
                    .schema().columns().stream().map(Column::name).toList();
        }
        return RecordShape.isRecord(stream.getType())
                ? RecordShape.of(stream.getType()).names()
                : List.of();
    }

    /** Whether the side has the column, or has no columns at all, which other checks refuse. */
    boolean hasColumn(String column) {
        List<String> names = columnNames();
        return names.isEmpty() || names.contains(column);
    }

    /**
     * Checks that the side has a column.
     *
     * @throws IllegalArgumentException if it has not
     */
    void requireColumn(String column) {
        if (!hasColumn(column)) {
            throw new IllegalArgumentException(missing(column));
        }
    }

    private String missing(String column) {
        List<String> names = columnNames();
        if (column.equals("*")) {
            return "Input '%s' selects \"*\", but state has a fixed list of columns. Name them: %s."
                    .formatted(name, names);
        }
        String outer = column.split("\\.", 2)[0];
        if (!outer.equals(column) && names.contains(outer)) {
            return "Input '%s' has no column '%s': fields of '%s' are none. Map it to a column of its own first."
                    .formatted(name, column, outer);
        }
        return "Input '%s' has no column '%s'. Its columns are %s.".formatted(name, column, names);
    }

    public void select(String... columns) {
        selections.clear();
        for (String column : columns) {
            selections.add(Selection.parse(column));
        }
    }

    String name() {
        return name;
    }

    List<Selection> selections() {
        return selections;
    }

    DataStream<?> stream() {
        return stream;
    }

    /** Whether records have event timestamps of their own; those of chunks are columns, if any. */
    boolean hasTimestamps() {
        return !chunks;
    }

    /**
     * Lays out the chunks of this side: key columns, then those selected, then others in use.
     *
     * @param withTimestamp whether each record's event timestamp travels along
     * @param packing whatever its partition column, that is the partition key
     */
    Packed pack(InputKeys keys, boolean withTimestamp, PackSpec packing) {
        Set<String> columns = new LinkedHashSet<>(keys.own());
        selections.forEach(selection -> columns.add(selection.column()));
        columns.addAll(used);
        columns.forEach(this::requireColumn);
        return chunks
                ? packChunks(List.copyOf(columns), keys, packing)
                : packRecords(List.copyOf(columns), keys, withTimestamp, packing);
    }

    @SuppressWarnings("unchecked")
    private Packed packRecords(
            List<String> columns, InputKeys keys, boolean timestamp, PackSpec packing) {
        SerializerConfig config = stream.getExecutionConfig().getSerializerConfig();
        DataStream<R> records = (DataStream<R>) stream;
        List<KeyColumn<R>> made =
                keys.made().stream().map(key -> (KeyColumn<R>) (KeyColumn<?>) key).toList();
        RecordLayout<R> layout =
                RecordLayout.of(records.getType(), columns, keys.own(), config)
                        .withKeys(made)
                        .keepingNullKeys(keys.keptNulls());
        if (timestamp) {
            layout = layout.withTimestamp();
        }
        if (kindOfChange != null) {
            layout = layout.withChanges();
        }
        PackOperator<R> packer =
                new PackOperator<>(
                        layout, filter, kindOfChange, byKey(packing, layout.schema(), keys));
        return new Packed(layout.schema(), layout.fields(), layout.nullKeyBits(), packer);
    }

    @SuppressWarnings("unchecked")
    private Packed packChunks(List<String> columns, InputKeys keys, PackSpec packing) {
        ChunkSchema schema = ((ChunkTypeInfo) stream.getType()).schema();
        ChunkProjection projection =
                ChunkProjection.of(schema, columns, keys.own()).keepingNullKeys(keys.keptNulls());
        ChunkProjection whole =
                ChunkProjection.of(
                        schema, schema.columns().stream().map(Column::name).toList(), keys.own());
        if (goOnByReference(packing) && whole.isIdentity()) {
            projection = whole;
        }
        ChunkPackOperator packer =
                new ChunkPackOperator(
                        projection,
                        (FilterFunction<RowView>) filter,
                        byKey(packing, projection.schema(), keys));
        return new Packed(
                projection.schema(), projection.fields(), projection.nullKeyBits(), packer);
    }

    private static PackSpec byKey(PackSpec packing, ChunkSchema schema, InputKeys keys) {
        return packing.partitionedBy(schema.require(keys.partitionKey()), packing.partitions());
    }

    /**
     * Whether the join takes this side's chunks by reference, so that columns that nobody wants
     * cost nothing, while taking them out is a copy of the others.
     */
    private boolean goOnByReference(PackSpec packing) {
        return packing.dimension() == ChunkDescriptor.FACTS
                && !packing.isPartitioned()
                && filter == null
                && stream.getParallelism() == stream.getExecutionEnvironment().getParallelism();
    }

    /** Adds the packer to the stream, in the chain of its source. */
    SingleOutputStreamOperator<Chunk> transform(Packed packed, ChunkTypeInfo type, String uid) {
        return transform(stream, packed, type, uid);
    }

    /**
     * Adds a packer of facts to the stream. Its chunks of one partition are in the side output
     * {@link MeasuredDimension#partitions}, until the dimension proves small.
     *
     * @param measured null if no dimension is
     */
    @SuppressWarnings("unchecked")
    SingleOutputStreamOperator<Chunk> transform(
            Packed packed, ChunkTypeInfo type, String uid, MeasuredDimension measured) {
        if (measured == null) {
            return transform(packed, type, uid);
        }
        AbstractPackOperator<Object, ?> packer = (AbstractPackOperator<Object, ?>) packed.packer();
        packer.partitionUntilReplicated(measured, type);
        return ((DataStream<Object>) stream)
                .transform("pack " + name, type, new MeasuredPackFactory<>(packer, measured))
                .setParallelism(stream.getParallelism())
                .setBufferTimeout(0)
                .uid(uid);
    }

    /**
     * Adds the packer behind an exchange by the join key. Packers that each had changes of one row
     * would broadcast them in orders of their own, and subtasks of the join would differ for good.
     */
    @SuppressWarnings("unchecked")
    SingleOutputStreamOperator<Chunk> transformByKey(
            JoinKey key, Packed packed, ChunkTypeInfo type, String uid) {
        DataStream<R> changes = (DataStream<R>) stream;
        ChangeKey<R> selector =
                key.made() == null
                        ? ChangeKey.ofColumn(changes.getType(), key.column())
                        : ChangeKey.of(changes.getType(), (SelectedKey<R, ?>) key.made().key());
        DataStream<R> byKey =
                new DataStream<>(
                        stream.getExecutionEnvironment(),
                        changes.keyBy(selector, Types.LONG).getTransformation());
        return transform(byKey, packed, type, uid);
    }

    @SuppressWarnings("unchecked")
    private SingleOutputStreamOperator<Chunk> transform(
            DataStream<?> input, Packed packed, ChunkTypeInfo type, String uid) {
        return ((DataStream<Object>) input)
                .transform(
                        "pack " + name,
                        type,
                        (OneInputStreamOperator<Object, Chunk>) packed.packer())
                .setParallelism(stream.getParallelism())
                // A chunk is a batch already; waiting to fill a network buffer gains nothing.
                .setBufferTimeout(0)
                .uid(uid);
    }
}
