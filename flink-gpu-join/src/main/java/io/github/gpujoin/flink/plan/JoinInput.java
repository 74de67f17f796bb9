// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.filter.RangeCondition;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import io.github.gpujoin.flink.filter.SourceConditions;
import io.github.gpujoin.flink.pack.AbstractPackOperator;
import io.github.gpujoin.flink.pack.ChunkPackOperator;
import io.github.gpujoin.flink.pack.ChunkProjection;
import io.github.gpujoin.flink.pack.ColumnRangeFilter;
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
import java.util.UUID;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * An input of a join as the user described it: a stream of records or chunks, a filter, and the
 * columns of the result. Mutable; used while the job graph is built.
 *
 * @param <R> argument of the filter: the record, or a row of a chunk
 */
public final class JoinInput<R> {

    /** Name of the facts in messages, metrics and uids. */
    private static final String FACTS = "facts";

    /** The chunks of a side, and the operator that packs them. */
    record Packed(
            ChunkSchema schema,
            List<RecordField> fields,
            Map<String, Integer> nullKeyBits,
            OneInputStreamOperator<?, Chunk> packer) {

        /**
         * Returns the bits of a column in the column of null keys; 0 unless rows with a null in it
         * are kept.
         */
        int nullKeyBits(String column) {
            return nullKeyBits.getOrDefault(column, 0);
        }

        int column(String name) {
            return schema.require(name);
        }
    }

    /** A filter of one column, which the engine evaluates. */
    record ColumnFilter(String column, ValueRanges values) {}

    /** Ten thousand years, so that sums with a clock time in ms do not overflow. */
    private static final Duration MAX_TTL = Duration.ofDays(3_650_000);

    private final DataStream<?> stream;
    private final boolean chunks;

    /** Identifies the join for the source of the stream, which no other join reads; or null. */
    private final @Nullable String sourceLink;

    private final List<Selection> selections = new ArrayList<>();
    private final List<ColumnFilter> columnFilters = new ArrayList<>();
    private final Set<String> used = new LinkedHashSet<>();
    private String name;
    private @Nullable FilterFunction<R> filter;
    private Duration ttl;
    private int generation;
    private final BuiltJoin built = new BuiltJoin();

    /** Null if records are not changes. */
    private @Nullable MapFunction<R, RowKind> kindOfChange;

    private JoinInput(
            String name, DataStream<?> stream, boolean chunks, @Nullable String sourceLink) {
        this.name = name;
        this.stream = Objects.requireNonNull(stream, name);
        this.chunks = chunks;
        this.sourceLink = sourceLink;
    }

    /** Returns the mark of the join whose facts the input is. */
    public BuiltJoin built() {
        return built;
    }

    public static <T> JoinInput<T> records(String name, DataStream<T> stream) {
        if (stream.getType() instanceof ChunkTypeInfo) {
            throw new IllegalArgumentException(
                    "Input '%s' consists of chunks. Use .ofChunks(...) or .dimensionChunks(...)."
                            .formatted(name));
        }
        return new JoinInput<>(name, stream, false, null);
    }

    public static JoinInput<RowView> chunks(String name, DataStream<Chunk> stream) {
        if (!(stream.getType() instanceof ChunkTypeInfo)) {
            throw new IllegalArgumentException(
                    "Stream of chunks without a schema: input=%s, type=%s. Add .returns(ChunkTypeInfo.of(schema))."
                            .formatted(name, stream.getType()));
        }
        return new JoinInput<>(name, stream, true, null);
    }

    /** Returns an input of files that only this join reads, so that its conditions reach them. */
    public static JoinInput<RowView> source(
            String name, StreamExecutionEnvironment env, ColumnarSource source, String uid) {
        String link = UUID.randomUUID().toString();
        return new JoinInput<>(
                name,
                source.toStream(env, uid, metrics -> SourceConditions.of(link, metrics)),
                true,
                link);
    }

    /** Returns what identifies the join for the source of the stream, or null. */
    @Nullable String sourceLink() {
        return sourceLink;
    }

    /** Returns the filters of columns as conditions for the source of the stream. */
    List<ColumnCondition> columnConditions() {
        return columnFilters.stream()
                .map(f -> new ColumnCondition(f.column(), new RangeCondition(f.values())))
                .toList();
    }

    /**
     * Names a dimension.
     *
     * @throws IllegalArgumentException if the name is blank, or the one of the facts
     */
    public void named(String name) {
        if (Objects.requireNonNull(name, "name").isBlank() || name.equals(FACTS)) {
            throw new IllegalArgumentException(
                    "A dimension has a blank or reserved name: name='%s'. Choose another name with .named(...)."
                            .formatted(name));
        }
        this.name = name;
    }

    public void where(FilterFunction<R> filter) {
        this.filter = stream.getExecutionEnvironment().clean(filter);
    }

    /**
     * Treats records as changes to the row of their key. The records contain the kind of change.
     *
     * @throws IllegalArgumentException if the type of the records has no kind of change
     */
    @SuppressWarnings("unchecked")
    public void changelog() {
        if (!RecordKind.of(stream.getType()).hasRowKind()) {
            throw new IllegalArgumentException(
                    "Records without a kind of change: input=%s, type=%s. Use .changelog(record -> ...)."
                            .formatted(name, stream.getType()));
        }
        changelog(
                RecordKind.of(stream.getType()) == RecordKind.ROW
                        ? (MapFunction<R, RowKind>) (MapFunction<Row, RowKind>) Row::getKind
                        : (MapFunction<R, RowKind>)
                                (MapFunction<RowData, RowKind>) RowData::getRowKind);
    }

    /**
     * Treats records as changes to the row of their key.
     *
     * @param kind returns the kind of change of a record
     * @throws IllegalArgumentException if the input consists of chunks
     */
    public void changelog(MapFunction<R, RowKind> kind) {
        if (chunks) {
            throw new IllegalArgumentException(
                    "Changelog of chunks: input=%s. Use a stream of records.".formatted(name));
        }
        kindOfChange = stream.getExecutionEnvironment().clean(kind);
    }

    /** Treats records as changes. Records without a kind of change are inserts. */
    public void changelogOrInserted() {
        if (RecordKind.of(stream.getType()).hasRowKind()) {
            changelog();
        } else {
            changelog(record -> RowKind.INSERT);
        }
    }

    /** Returns the filter, or null if all rows are kept. */
    @Nullable FilterFunction<R> filter() {
        return filter;
    }

    /**
     * Sets how often the side is read again.
     *
     * @param generation 0 if it is read once only
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
     * Sets the time to live of this side's rows.
     *
     * @throws IllegalArgumentException if the time is not positive or exceeds 10,000 years
     */
    public void ttl(Duration rows) {
        if (rows.isNegative() || rows.isZero() || rows.compareTo(MAX_TTL) > 0) {
            throw new IllegalArgumentException(
                    "Time to live is out of range: input=%s, ttl=%s. Use more than 0 and at most %d days."
                            .formatted(name, rows, MAX_TTL.toDays()));
        }
        this.ttl = rows;
    }

    /** Returns the time to live of rows, or null if they do not expire. */
    @Nullable Duration ttl() {
        return ttl;
    }

    boolean isChangelog() {
        return kindOfChange != null;
    }

    /**
     * Adds a filter: keeps only rows whose column has a value in the ranges. All filters must
     * accept a row.
     */
    public void where(String column, ValueRanges values) {
        columnFilters.add(new ColumnFilter(column, values));
        use(column);
    }

    /** Includes a column in the chunks, even if the result does not select it. */
    void use(String column) {
        used.add(column);
    }

    List<ColumnFilter> columnFilters() {
        return columnFilters;
    }

    /**
     * Returns the type of the records.
     *
     * @throws IllegalArgumentException if the input consists of chunks, which support integer keys
     *     only
     */
    TypeInformation<?> recordType() {
        if (chunks) {
            throw new IllegalArgumentException(
                    "Chunks support one integer key column without null-safe comparison only: input=%s. Use records for other keys."
                            .formatted(name));
        }
        return stream.getType();
    }

    /**
     * Whether an engine can compare values of the column directly. Chunks support such key columns
     * only.
     */
    boolean isIntegerColumn(String column) {
        return chunks || FieldKind.of(RecordShape.of(stream.getType()).typeOf(column)).isKey();
    }

    /** Returns the names of all columns; empty if the records have no columns. */
    List<String> columnNames() {
        if (chunks) {
            return ((ChunkTypeInfo) stream.getType())
                    .schema().columns().stream().map(Column::name).toList();
        }
        return RecordShape.isRecord(stream.getType())
                ? RecordShape.of(stream.getType()).names()
                : List.of();
    }

    /**
     * Whether the side has the column. True if it has no columns at all, which other checks reject.
     */
    boolean hasColumn(String column) {
        List<String> names = columnNames();
        return names.isEmpty() || names.contains(column);
    }

    /**
     * Checks that the side has a column.
     *
     * @throws IllegalArgumentException if the column is missing
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
            return "Input '%s' has no column '%s': fields of '%s' are no columns. Map the field to a column first."
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

    /** Whether records have event timestamps. Those of chunks are ordinary columns, if any. */
    boolean hasTimestamps() {
        return !chunks;
    }

    /**
     * Determines the layout of this side's chunks: key columns, selected columns, other used
     * columns.
     *
     * @param withTimestamp whether chunks contain each record's event timestamp
     * @param packing whose partition column is replaced by the partition key
     */
    Packed pack(InputKeys keys, boolean withTimestamp, PackSpec packing) {
        return pack(keys, withTimestamp, packing, filter);
    }

    /** Does the same for batch mode, where the packer evaluates the filters of columns too. */
    Packed packForBatch(InputKeys keys, boolean withTimestamp, PackSpec packing) {
        return pack(keys, withTimestamp, packing, filterWithColumns());
    }

    @SuppressWarnings("unchecked")
    private @Nullable FilterFunction<R> filterWithColumns() {
        FilterFunction<R> all = filter;
        for (ColumnFilter of : columnFilters) {
            if (chunks) {
                int column = ((ChunkTypeInfo) stream.getType()).schema().require(of.column());
                all =
                        (FilterFunction<R>)
                                ColumnRangeFilter.ofChunks(
                                        column, of.values(), (FilterFunction<RowView>) all);
            } else {
                TypeInformation<R> type = (TypeInformation<R>) stream.getType();
                all = ColumnRangeFilter.ofRecords(type, of.column(), of.values(), all);
            }
        }
        return all;
    }

    private Packed pack(
            InputKeys keys,
            boolean withTimestamp,
            PackSpec packing,
            @Nullable FilterFunction<R> filter) {
        Set<String> columns = new LinkedHashSet<>(keys.own());
        selections.forEach(selection -> columns.add(selection.column()));
        columns.addAll(used);
        columns.forEach(this::requireColumn);
        return chunks
                ? packChunks(List.copyOf(columns), keys, packing, filter)
                : packRecords(List.copyOf(columns), keys, withTimestamp, packing, filter);
    }

    @SuppressWarnings("unchecked")
    private Packed packRecords(
            List<String> columns,
            InputKeys keys,
            boolean timestamp,
            PackSpec packing,
            @Nullable FilterFunction<R> filter) {
        SerializerConfig config = stream.getExecutionConfig().getSerializerConfig();
        DataStream<R> records = (DataStream<R>) stream;
        List<KeyColumn<R>> computed =
                keys.computed().stream().map(key -> (KeyColumn<R>) (KeyColumn<?>) key).toList();
        RecordLayout<R> layout =
                RecordLayout.of(records.getType(), columns, keys.own(), config)
                        .withKeys(computed)
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
    private Packed packChunks(
            List<String> columns,
            InputKeys keys,
            PackSpec packing,
            @Nullable FilterFunction<R> filter) {
        ChunkSchema schema = ((ChunkTypeInfo) stream.getType()).schema();
        ChunkProjection projection =
                ChunkProjection.of(schema, columns, keys.own()).keepingNullKeys(keys.keptNulls());
        ChunkProjection whole =
                ChunkProjection.of(
                        schema, schema.columns().stream().map(Column::name).toList(), keys.own());
        if (filter == null && travelsByReference(packing) && whole.isIdentity()) {
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
     * Whether this side's chunks reach the join by reference. Then unused columns cost nothing,
     * while removing them would copy the others.
     */
    private boolean travelsByReference(PackSpec packing) {
        return packing.dimension() == ChunkDescriptor.FACTS
                && !packing.isPartitioned()
                && stream.getParallelism() == stream.getExecutionEnvironment().getParallelism();
    }

    /** Adds the packer of a join of batch mode to the stream, chained to its source. */
    @SuppressWarnings("unchecked")
    SingleOutputStreamOperator<Chunk> transform(
            Packed packed, ChunkTypeInfo type, BulkTopology topology) {
        DataStream<Object> records = (DataStream<Object>) stream;
        return topology.pack(
                columnFilters.isEmpty() ? packed(records) : records,
                (AbstractPackOperator<Object, ?>) packed.packer(),
                name,
                type);
    }

    /** Adds the packer to the stream, chained to its source. */
    SingleOutputStreamOperator<Chunk> transform(Packed packed, ChunkTypeInfo type, String uid) {
        return transform(stream, packed, type, uid);
    }

    /**
     * Adds a packer of facts to the stream. Until the measured dimension proves small, the packer
     * emits chunks of one partition to the side output {@link MeasuredDimension#partitions}.
     *
     * @param measured null if no dimension is measured
     */
    @SuppressWarnings("unchecked")
    SingleOutputStreamOperator<Chunk> transform(
            Packed packed, ChunkTypeInfo type, String uid, @Nullable MeasuredDimension measured) {
        if (measured == null) {
            return transform(packed, type, uid);
        }
        AbstractPackOperator<Object, ?> packer = (AbstractPackOperator<Object, ?>) packed.packer();
        packer.partitionUntilReplicated(measured, type);
        return packed((DataStream<Object>) stream)
                .transform("pack " + name, type, new MeasuredPackFactory<>(packer, measured))
                .setParallelism(stream.getParallelism())
                .setBufferTimeout(0)
                .uid(uid);
    }

    /**
     * Adds the packer behind an exchange by the join key. If several packers had changes of one
     * row, subtasks of the join could receive these in different orders, and their replicas would
     * diverge.
     */
    @SuppressWarnings("unchecked")
    SingleOutputStreamOperator<Chunk> transformByKey(
            JoinKey key, Packed packed, ChunkTypeInfo type, String uid) {
        DataStream<R> changes = (DataStream<R>) stream;
        ChangeKey<R> selector =
                key.computedKey() == null
                        ? ChangeKey.ofColumn(changes.getType(), key.column())
                        : ChangeKey.of(
                                changes.getType(), (SelectedKey<R, ?>) key.computedKey().key());
        DataStream<R> byKey =
                new DataStream<>(
                        stream.getExecutionEnvironment(),
                        changes.keyBy(selector, Types.LONG).getTransformation());
        return transform(byKey, packed, type, uid);
    }

    @SuppressWarnings("unchecked")
    private SingleOutputStreamOperator<Chunk> transform(
            DataStream<?> input, Packed packed, ChunkTypeInfo type, String uid) {
        return packed((DataStream<Object>) input)
                .transform(
                        "pack " + name,
                        type,
                        (OneInputStreamOperator<Object, Chunk>) packed.packer())
                .setParallelism(stream.getParallelism())
                // A chunk is a batch already, so waiting to fill a network buffer would only add
                // latency.
                .setBufferTimeout(0)
                .uid(uid);
    }

    /** Returns the packer's input. A function of the user may keep or change its records. */
    private <T> DataStream<T> packed(DataStream<T> input) {
        return chunks || filter != null || kindOfChange != null
                ? input
                : UncopiedType.stream(input);
    }
}
