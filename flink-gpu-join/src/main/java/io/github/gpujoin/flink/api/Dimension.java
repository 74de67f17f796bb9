// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.plan.DimensionInput;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/**
 * Configures a dimension of a {@link StarJoin}, within {@link StarJoin#dimension}.
 *
 * <p>Methods change this description and return it. The order of calls does not matter, except that
 * {@link #on} adds key columns. Not thread-safe.
 *
 * @param <D> the dimension as filters see it: records, or {@link RowView} for chunks
 */
@PublicEvolving
public final class Dimension<D> {

    private final DimensionInput<D> side;

    Dimension(DimensionInput<D> side) {
        this.side = side;
    }

    /**
     * Names the dimension in messages, metrics and uids; {@code "dimension-"} and its number from 0
     * by default. Savepoints find its state by the name.
     *
     * @param name of the dimension
     * @return this builder
     */
    public Dimension<D> named(String name) {
        open().input().named(Objects.requireNonNull(name, "name"));
        return this;
    }

    /**
     * Declares the dimension a changelog: each record inserts, replaces or deletes the one row of
     * its join key, also after facts were joined. {@code StreamTableEnvironment.toChangelogStream}
     * returns such streams. A fact meets the rows that the dimension contains when it is joined.
     *
     * <p>INSERT and UPDATE_AFTER replace the row of the key, DELETE removes it, UPDATE_BEFORE has
     * no effect. A row that {@link #where} drops counts as deleted.
     *
     * <p>Facts do not wait for such a dimension, unless {@link #completeAtWatermark} is set.
     *
     * @return this builder
     * @throws IllegalArgumentException if records carry no {@link RowKind}, as only Row and RowData
     *     do, or are chunks
     */
    public Dimension<D> changelog() {
        open().input().changelog();
        return this;
    }

    /**
     * Declares that records of any type are changes, as {@link #changelog()} does.
     *
     * @param kind returns the kind of change of a record
     * @return this builder
     * @throws IllegalArgumentException if the dimension consists of chunks
     */
    public Dimension<D> changelog(MapFunction<D, RowKind> kind) {
        open().input().changelog(Objects.requireNonNull(kind, "kind"));
        return this;
    }

    /**
     * Joins each fact with the row of its key that was valid at the fact's event time: the one with
     * the largest timestamp not after it, unless that is a DELETE. The dimension is partitioned.
     * Records are changes as with {@link #changelog()}; those without a kind are insertions.
     *
     * <p>Facts and versions wait until the watermarks of both streams pass their timestamps. Of the
     * versions before the watermark, the newest of each key stays. Rows behind the watermark leave
     * by {@link StarJoin#lateFacts} and {@link StarJoin#lateVersions}.
     *
     * @return this builder
     * @throws IllegalArgumentException if the dimension consists of chunks
     */
    public Dimension<D> versioned() {
        open().versioned();
        return this;
    }

    /**
     * Joins late facts and versions of a {@linkplain #versioned() versioned} dimension too, as
     * Flink's temporal join does. They wait for the next watermark. A late fact sees the version of
     * its time if that is still kept: versions of a key are dropped, except for the newest, at each
     * watermark that passes a fact of the key or a version that has arrived meanwhile. A late
     * version takes its place among those that are kept. {@link StarJoin#lateFacts} and {@link
     * StarJoin#lateVersions} emit nothing.
     *
     * @return this builder
     */
    public Dimension<D> joinLateRows() {
        open().joinLateRows();
        return this;
    }

    /**
     * Keeps only rows that the filter accepts; other rows match nothing. A second call replaces the
     * filter.
     *
     * @param filter returns whether a row is joined
     * @return this builder
     */
    public Dimension<D> where(FilterFunction<D> filter) {
        open().input().where(Objects.requireNonNull(filter, "filter"));
        return this;
    }

    /**
     * Adds a pair of columns that must be equal. A dimension of records joins on integers of any
     * width, or on one of the types that {@link PairJoin} lists; one of chunks, on a single integer
     * column.
     *
     * @param factColumn column of the facts
     * @param dimensionColumn column of the dimension
     * @return this builder
     */
    public Dimension<D> on(String factColumn, String dimensionColumn) {
        open().on(
                        Objects.requireNonNull(factColumn, "factColumn"),
                        Objects.requireNonNull(dimensionColumn, "dimensionColumn"));
        return this;
    }

    /**
     * Treats nulls as equal, also inside composite keys ({@code IS NOT DISTINCT FROM}).
     *
     * @return this builder
     */
    public Dimension<D> nullSafe() {
        open().nulls(Nulls.MATCH_NULLS);
        return this;
    }

    /**
     * Keeps facts without a match, once each. The dimension's columns are null there, so fields of
     * a POJO must accept null. A fact whose key is null has no match.
     *
     * @return this builder
     */
    public Dimension<D> left() {
        open().kind(JoinKind.LEFT);
        return this;
    }

    /**
     * Keeps a fact once if it has a match. The dimension's columns cannot be selected.
     *
     * @return this builder
     */
    public Dimension<D> semi() {
        open().kind(JoinKind.SEMI);
        return this;
    }

    /**
     * Keeps a fact once if it has no match, also if its key is null. The dimension's columns cannot
     * be selected.
     *
     * @return this builder
     */
    public Dimension<D> anti() {
        open().kind(JoinKind.ANTI);
        return this;
    }

    /**
     * Selects columns of the dimension for the result; without this call, none. A second call
     * replaces the selection.
     *
     * @param columns each {@code "column"} or {@code "column AS name"}
     * @return this builder
     */
    public Dimension<D> select(String... columns) {
        open().input().select(Arguments.requireNoNull(columns, "columns"));
        return this;
    }

    /**
     * Sends the whole dimension to every subtask; facts stay where they are.
     *
     * @return this builder
     */
    public Dimension<D> replicated() {
        open().distribution(Distribution.REPLICATED);
        return this;
    }

    /**
     * Sends each subtask a part of the dimension, and facts to the subtask of their key. At most
     * one dimension of a join can be partitioned.
     *
     * @return this builder
     */
    public Dimension<D> partitioned() {
        open().distribution(Distribution.PARTITIONED);
        return this;
    }

    /**
     * States the size of the dimension. Without {@link #replicated} or {@link #partitioned}, a
     * dimension larger than {@code gpu-join.replicate-max-bytes} is partitioned. Otherwise the join
     * measures the dimension that may be the largest while it loads, and replicates it if it is
     * small.
     *
     * @param bytes from 0
     * @return this builder
     * @throws IllegalArgumentException if it is negative
     */
    public Dimension<D> expectedBytes(long bytes) {
        open().expectedBytes(bytes);
        return this;
    }

    /**
     * Sets the watermark of this dimension at which it is complete, so that facts are joined. By
     * default that is its end, or the start for a {@linkplain #changelog() changelog}. Idle
     * subtasks of its source are ignored once another one has reached the watermark.
     *
     * <p>Later rows fail the job, unless the dimension is a changelog, {@link #lateRows} is set, or
     * {@code gpu-join.late-dimension-rows} is {@code drop}. A dimension with an unbounded source
     * needs this call, {@link #changelog()} or {@link #versioned()}.
     *
     * @param watermark event time in ms; {@link Long#MAX_VALUE} for the end of a source that ends
     *     though it is declared unbounded
     * @return this builder
     */
    public Dimension<D> completeAtWatermark(long watermark) {
        open().completeAtWatermark(watermark);
        return this;
    }

    /**
     * Sends rows that arrive after {@link #completeAtWatermark} to a stream instead of failing the
     * job: Rows with the key and selected columns as named fields. No result contains them. The
     * metric {@code lateDimensionRows} counts them. Without {@link #completeAtWatermark}, only rows
     * that a source repeats after a restore arrive late.
     *
     * @param sink receives the stream when the join is built, and consumes it
     * @return this builder
     */
    public Dimension<D> lateRows(Consumer<DataStream<Row>> sink) {
        open().lateRows(Objects.requireNonNull(sink, "sink"));
        return this;
    }

    /**
     * Removes a row of a {@linkplain #changelog() changelog} that was not inserted or updated for
     * this long, up to a tenth later.
     *
     * @param ttl processing time from the arrival of the last change; positive, at most 10,000
     *     years
     * @return this builder
     * @throws IllegalArgumentException if the time is out of range
     */
    public Dimension<D> ttl(Duration ttl) {
        open().input().ttl(Objects.requireNonNull(ttl, "ttl"));
        return this;
    }

    /**
     * Sets the version number of this dimension's rows, to read them again. A job that restores a
     * snapshot of an earlier generation drops the dimension's rows from state and loads it from the
     * start, while facts wait. This adds a selected column that the snapshot lacks, or applies
     * another filter. Later restores keep the number.
     *
     * <p>Each generation needs new uids of the source and of all operators between it and the join,
     * so that they start without state ({@code --allowNonRestoredState}). They must not be those of
     * the facts. A versioned dimension cannot be read again; a changelog needs {@link
     * #completeAtWatermark}.
     *
     * @param generation from 0, the default
     * @return this builder
     * @throws IllegalArgumentException if it is negative
     */
    public Dimension<D> generation(int generation) {
        open().input().generation(generation);
        return this;
    }

    private DimensionInput<D> open() {
        side.requireNotJoined();
        return side;
    }
}
