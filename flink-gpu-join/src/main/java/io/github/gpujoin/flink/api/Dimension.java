package io.github.gpujoin.flink.api;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.explain.Distribution;
import io.github.gpujoin.flink.pack.KeyLayout.Nulls;
import io.github.gpujoin.flink.pipeline.DimensionSide;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.OutputTag;

/**
 * A dimension of a {@link StarJoin}, and the way back to the join.
 *
 * @param <F> what the facts' filter sees
 * @param <D> what this dimension's filter sees: the record, or {@link RowView} for chunks
 */
public final class Dimension<F, D> {

    private final StarJoin<F> join;
    private final DimensionSide<D> side;

    Dimension(StarJoin<F> join, DimensionSide<D> side) {
        this.join = join;
        this.side = side;
    }

    /** A name for messages, metrics and uids; best given once and kept. */
    public Dimension<F, D> named(String name) {
        side.input().named(name);
        return this;
    }

    /**
     * The columns that must be equal: of the facts, and of this dimension; called again, further
     * ones. Of records, they are integers of any width, or of one type that {@link GpuJoin} has
     * keys of; of chunks, one column of integers.
     */
    public Dimension<F, D> on(String factColumn, String dimensionColumn) {
        side.on(factColumn, dimensionColumn);
        return this;
    }

    /**
     * Has a null key equal a null key, and a null in a key a null in the same place of another:
     * SQL's {@code IS NOT DISTINCT FROM} in place of {@code =}.
     */
    public Dimension<F, D> nullSafe() {
        side.nulls(Nulls.MATCH_NULLS);
        return this;
    }

    /** Keeps only some rows of the dimension; others match nothing. */
    public Dimension<F, D> where(FilterFunction<D> filter) {
        side.input().where(filter);
        return this;
    }

    /** Columns in the result, as {@code "column"} or {@code "column AS name"}; by default none. */
    public Dimension<F, D> select(String... columns) {
        side.input().select(columns);
        return this;
    }

    /**
     * Keeps facts that match nothing too, once each: columns of this dimension are null there, and
     * so may be their fields in a POJO. A fact whose key is null matches nothing.
     */
    public Dimension<F, D> left() {
        side.kind(JoinKind.LEFT);
        return this;
    }

    /** Keeps a fact once if it matches at all; nothing of the dimension can be selected. */
    public Dimension<F, D> semi() {
        side.kind(JoinKind.SEMI);
        return this;
    }

    /**
     * Keeps a fact once if it matches nothing, as where its key is null; nothing of the dimension
     * can be selected.
     */
    public Dimension<F, D> anti() {
        side.kind(JoinKind.ANTI);
        return this;
    }

    /** Every subtask gets the whole dimension, and facts stay where they are. */
    public Dimension<F, D> replicated() {
        side.distribution(Distribution.REPLICATED);
        return this;
    }

    /**
     * Every subtask gets a share of the dimension, and facts are sent to their share. At most one
     * dimension of a join can be.
     */
    public Dimension<F, D> partitioned() {
        side.distribution(Distribution.PARTITIONED);
        return this;
    }

    /**
     * How large the dimension is. Without {@link #replicated} or {@link #partitioned} it is
     * partitioned if that is more than {@code gpu-join.replicate-max-bytes}. Of other dimensions,
     * the one that may be the largest is measured while it is loaded, and replicated if it is
     * small.
     */
    public Dimension<F, D> expectedBytes(long bytes) {
        side.expectedBytes(bytes);
        return this;
    }

    /**
     * Counts how often this dimension is read again, from 0. A job that restores a snapshot of an
     * earlier generation drops the dimension's rows in state and loads it from the start, while
     * facts wait: for a selected column that the snapshot lacks, or another filter. Later restores
     * keep the number.
     *
     * <p>The source, and all operators between it and the join, need new uids with it, so that they
     * start without state ({@code --allowNonRestoredState}), and must not be those of the facts. A
     * dimension that is versioned cannot be read again; one that changes needs {@link
     * #completeAtWatermark}.
     */
    public Dimension<F, D> generation(int generation) {
        side.input().generation(generation);
        return this;
    }

    /**
     * The watermark of this dimension at which it is complete, so that facts are joined; by default
     * that is its end, or the start where it {@linkplain #changing() changes}. Subtasks of its
     * source that are idle are not waited for, once one of them has reached the watermark.
     *
     * <p>Rows that arrive later fail the job, unless the dimension changes, {@link #lateRows} takes
     * them, or {@code gpu-join.late-dimension-rows} is {@code drop}.
     *
     * <p>A dimension with an unbounded source needs this call, {@link #changing()} or {@link
     * #versioned()}.
     *
     * @param watermark event time in ms; {@link Long#MAX_VALUE} for the end of a source that is
     *     unbounded by its own account and ends all the same
     */
    public Dimension<F, D> completeAtWatermark(long watermark) {
        side.completeAtWatermark(watermark);
        return this;
    }

    /**
     * Gives rows that arrive after {@link #completeAtWatermark} to a stream of their own, rather
     * than failing the job: keys and selected columns as they travel, as Rows with named fields.
     * They are in no result. Counted by the metric {@code lateDimensionRows}.
     *
     * @param sink receives the stream when the join is made, and consumes it
     */
    public Dimension<F, D> lateRows(Consumer<DataStream<Row>> sink) {
        side.lateRows(Objects.requireNonNull(sink, "sink"));
        return this;
    }

    /**
     * The dimension changes while facts are joined: its stream is a changelog, as {@code
     * StreamTableEnvironment.toChangelogStream} gives it, of one row a join key. INSERT and
     * UPDATE_AFTER make a row that of its key, DELETE takes the row of its key away, UPDATE_BEFORE
     * says nothing; a row that {@link #where} drops counts as deleted. A fact is joined with what
     * the dimension holds when it is joined.
     *
     * <p>Facts do not wait for such a dimension, unless {@link #completeAtWatermark} says so.
     *
     * @throws IllegalArgumentException where records are not Rows
     */
    public Dimension<F, D> changing() {
        side.input().changing();
        return this;
    }

    /**
     * As {@link #changing()}, for records of any type.
     *
     * @param kind of change that a record is
     */
    public Dimension<F, D> changing(MapFunction<D, RowKind> kind) {
        side.input().changing(Objects.requireNonNull(kind, "kind"));
        return this;
    }

    /**
     * A row of this dimension, which is {@link #changing}, is gone when it was not inserted or
     * updated for so long, in processing time from its arrival on; up to a tenth later.
     */
    public Dimension<F, D> ttl(Duration ttl) {
        side.input().ttl(Objects.requireNonNull(ttl, "ttl"));
        return this;
    }

    /**
     * Each fact sees the row of its key that was valid at the fact's event time: the one with the
     * largest timestamp that is not after it, unless that was a DELETE. The dimension is
     * partitioned, and its stream holds changes as with {@link #changing()}, where records that
     * carry no kind are inserted.
     *
     * <p>Facts wait for the watermarks of both streams to pass their time; so do versions, and of
     * those before the watermark the newest of a key is kept. What comes behind the watermark goes
     * to {@link StarJoin#lateFacts} and {@link StarJoin#lateVersions}.
     */
    public Dimension<F, D> versioned() {
        side.versioned();
        return this;
    }

    /** See {@link StarJoin#lateFacts}. */
    public OutputTag<Row> lateFacts() {
        return join.lateFacts();
    }

    /** See {@link StarJoin#lateVersions}. */
    public OutputTag<Row> lateVersions() {
        return join.lateVersions();
    }

    /** See {@link StarJoin#dimension}. */
    public <E> Dimension<F, E> dimension(DataStream<E> dimension) {
        return join.dimension(dimension);
    }

    /** See {@link StarJoin#dimensionChunks}. */
    public Dimension<F, RowView> dimensionChunks(DataStream<Chunk> dimension) {
        return join.dimensionChunks(dimension);
    }

    /** See {@link StarJoin#uid}. */
    public StarJoin<F> uid(String uid) {
        return join.uid(uid);
    }

    /** See {@link StarJoin#groupBy}. */
    public GroupedJoin groupBy(String... columns) {
        return join.groupBy(columns);
    }

    /** See {@link StarJoin#toRows}. */
    public SingleOutputStreamOperator<Row> toRows() {
        return join.toRows();
    }

    /** See {@link StarJoin#toPojos}. */
    public <R> SingleOutputStreamOperator<R> toPojos(Class<R> type) {
        return join.toPojos(type);
    }

    /** See {@link StarJoin#toRecords}. */
    public <R> SingleOutputStreamOperator<R> toRecords(TypeInformation<R> type) {
        return join.toRecords(type);
    }

    /** See {@link StarJoin#toChunks}. */
    public SingleOutputStreamOperator<Chunk> toChunks() {
        return join.toChunks();
    }
}
