// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.plan.BuiltJoin;
import io.github.gpujoin.flink.plan.JoinUid;
import io.github.gpujoin.flink.plan.RegularJoinDescription;
import io.github.gpujoin.flink.plan.RegularStreams;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.apache.flink.annotation.Experimental;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;

/**
 * Joins two streams that both go on, as a regular join of Flink SQL does: a row is joined with all
 * rows of the other input that arrived before it, and is kept for those that come later. Neither
 * input has to be complete, and both may be changelogs.
 *
 * <pre>{@code
 * DataStream<Row> paid =
 *         RegularJoin.of(orders, payments)     // DataStream<Row> with kinds of change
 *                 .on("order_id", "order")     // left column, right column; again for more
 *                 .left()
 *                 .leftChangelog("order_id")   // orders are updated by this unique column
 *                 .ttl(Duration.ofDays(7), Duration.ofDays(1))
 *                 .uid("paid-orders")
 *                 .toStream();
 * }</pre>
 *
 * <p>Results have the columns of the left input and those of the right one, or only the left ones
 * if the join is semi or anti. A right column whose name exists is numbered: {@code id0}. Their
 * kinds of change are those of Flink's join (docs/semantics.md). They have no timestamps; the
 * watermark is the smaller one of both inputs.
 *
 * <p>Streams of other records become rows by {@code StreamTableEnvironment}. Regular joins in SQL
 * need no builder.
 *
 * <p>Methods other than {@code toStream} change this builder and return it. After {@code toStream},
 * they throw {@link IllegalStateException}. Not thread-safe.
 *
 * @param <T> records of both inputs and of the result
 */
@Experimental
public final class RegularJoin<T> {

    private final RegularStreams<T> streams;
    private final RegularJoinDescription join = new RegularJoinDescription();
    private final BuiltJoin built = new BuiltJoin();

    private RegularJoin(RegularStreams<T> streams) {
        this.streams = streams;
    }

    /**
     * Starts an inner join of rows that are only inserted.
     *
     * @param left of named columns, as {@code Types.ROW_NAMED} declares them
     * @param right likewise
     * @return the join, whose keys are not chosen yet
     * @throws IllegalArgumentException if columns are of types that Flink's tables do not have
     */
    public static RegularJoin<Row> of(DataStream<Row> left, DataStream<Row> right) {
        Objects.requireNonNull(left, "left");
        Objects.requireNonNull(right, "right");
        return new RegularJoin<>(RegularStreams.ofRows(left, right));
    }

    /**
     * Starts an inner join of internal rows that are only inserted. They are not converted.
     *
     * @param left of type {@code InternalTypeInfo}
     * @param right likewise
     * @return the join, whose keys are not chosen yet
     * @throws IllegalArgumentException if a stream does not declare its row type
     */
    public static RegularJoin<RowData> ofRowData(
            DataStream<RowData> left, DataStream<RowData> right) {
        Objects.requireNonNull(left, "left");
        Objects.requireNonNull(right, "right");
        return new RegularJoin<>(RegularStreams.ofRowData(left, right));
    }

    /**
     * Starts an inner join of columnar chunks whose rows are only inserted, on one integer column.
     * No row becomes an object.
     *
     * @param left of type {@code ChunkTypeInfo}
     * @param right likewise
     * @return the join, whose key is not chosen yet
     * @throws IllegalArgumentException if a stream does not declare its columns
     */
    public static RegularJoin<Chunk> ofChunks(DataStream<Chunk> left, DataStream<Chunk> right) {
        Objects.requireNonNull(left, "left");
        Objects.requireNonNull(right, "right");
        return new RegularJoin<>(RegularStreams.ofChunks(left, right));
    }

    /**
     * Adds a pair of columns that must be equal: numbers, booleans, text, bytes, dates, times,
     * timestamps or decimals, of one type on both sides or both integers.
     *
     * @param leftColumn column of the left input
     * @param rightColumn column of the right input
     * @return this builder
     */
    public RegularJoin<T> on(String leftColumn, String rightColumn) {
        built.requireNotBuilt("on");
        join.addKey(
                Objects.requireNonNull(leftColumn, "leftColumn"),
                Objects.requireNonNull(rightColumn, "rightColumn"));
        return this;
    }

    /**
     * Treats nulls as equal, also inside composite keys ({@code IS NOT DISTINCT FROM}). Chunks do
     * not support it.
     *
     * @return this builder
     */
    public RegularJoin<T> nullSafe() {
        built.requireNotBuilt("nullSafe");
        join.matchNulls();
        return this;
    }

    /**
     * Keeps left rows without a match; right columns are null there.
     *
     * @return this builder
     */
    public RegularJoin<T> left() {
        return kind(BulkJoinKind.LEFT);
    }

    /**
     * Keeps right rows without a match; left columns are null there.
     *
     * @return this builder
     */
    public RegularJoin<T> right() {
        return kind(BulkJoinKind.RIGHT);
    }

    /**
     * Keeps rows of both inputs without a match.
     *
     * @return this builder
     */
    public RegularJoin<T> full() {
        return kind(BulkJoinKind.FULL);
    }

    /**
     * Keeps a left row once if it has a match. The result has no right columns.
     *
     * @return this builder
     */
    public RegularJoin<T> semi() {
        return kind(BulkJoinKind.SEMI);
    }

    /**
     * Keeps a left row if it has no match. The result has no right columns.
     *
     * @return this builder
     */
    public RegularJoin<T> anti() {
        return kind(BulkJoinKind.ANTI);
    }

    private RegularJoin<T> kind(BulkJoinKind kind) {
        built.requireNotBuilt(kind.name().toLowerCase(Locale.ROOT));
        join.kind(kind);
        return this;
    }

    /**
     * Reads changes of the left input. A retraction must equal the row that it retracts, unless
     * unique columns identify it; an added row then replaces the one with equal unique columns.
     * Changes of a row must arrive in order from one subtask.
     *
     * @param uniqueColumns columns that no two rows of the input share; none if rows may repeat
     * @return this builder
     */
    public RegularJoin<T> leftChangelog(String... uniqueColumns) {
        built.requireNotBuilt("leftChangelog");
        join.leftChangelog(List.of(Objects.requireNonNull(uniqueColumns, "uniqueColumns")));
        return this;
    }

    /**
     * Reads changes of the right input: see {@link #leftChangelog}.
     *
     * @param uniqueColumns columns that no two rows of the input share; none if rows may repeat
     * @return this builder
     */
    public RegularJoin<T> rightChangelog(String... uniqueColumns) {
        built.requireNotBuilt("rightChangelog");
        join.rightChangelog(List.of(Objects.requireNonNull(uniqueColumns, "uniqueColumns")));
        return this;
    }

    /**
     * Names the INT32 column of chunks that contains kinds of change, as the codes of Flink's
     * {@code RowKind}: in inputs that are changelogs, and last in a result that has changes. The
     * default is {@code row_kind}.
     *
     * @param column name of the column
     * @return this builder
     */
    public RegularJoin<T> changeColumn(String column) {
        built.requireNotBuilt("changeColumn");
        join.changeColumn(Objects.requireNonNull(column, "column"));
        return this;
    }

    /**
     * Selects the columns of chunks that the result has. Without this call it has all of them.
     * Fewer columns make state and results smaller. Rows do not support it.
     *
     * @param left names of columns of the left input, in the order of the result
     * @param right names of columns of the right input, which follow
     * @return this builder
     */
    public RegularJoin<T> select(List<String> left, List<String> right) {
        built.requireNotBuilt("select");
        join.select(Objects.requireNonNull(left, "left"), Objects.requireNonNull(right, "right"));
        return this;
    }

    /**
     * Adds a condition that rows with equal keys must meet to match. Chunks do not support it.
     *
     * @param condition receives the left row first, then the right one, as internal rows with all
     *     columns; must be deterministic, and neither change nor keep the rows
     * @return this builder
     */
    public RegularJoin<T> matching(JoinFunction<RowData, RowData, Boolean> condition) {
        built.requireNotBuilt("matching");
        join.condition(Objects.requireNonNull(condition, "condition"));
        return this;
    }

    /**
     * Sets how long rows are joined after they were added, in processing time. Without this call
     * rows are kept until they are retracted.
     *
     * @param left of left rows, positive
     * @param right of right rows, positive
     * @return this builder
     * @throws IllegalArgumentException if a duration is not positive
     */
    public RegularJoin<T> ttl(Duration left, Duration right) {
        built.requireNotBuilt("ttl");
        join.ttl(Objects.requireNonNull(left, "left"), Objects.requireNonNull(right, "right"));
        return this;
    }

    /**
     * Sets the prefix of the uids of the join's operators, by which savepoints find their state.
     * The default is {@code gpu-join}; each join of a job needs its own.
     *
     * @param uid prefix of the uids
     * @return this builder
     */
    public RegularJoin<T> uid(String uid) {
        built.requireNotBuilt("uid");
        join.uid(JoinUid.of(Objects.requireNonNull(uid, "uid")));
        return this;
    }

    /**
     * Builds the join, in the parallelism of the environment.
     *
     * @return the results
     * @throws IllegalArgumentException if the description is incomplete or contradicts itself
     */
    public DataStream<T> toStream() {
        built.requireNotBuilt("toStream");
        DataStream<T> results = streams.join(join);
        built.mark(join.uid());
        return results;
    }
}
