// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.flink.api.data.BadRecord;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.emit.JoinedTableRows;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.plan.BuiltJoin;
import io.github.gpujoin.flink.plan.JoinUid;
import io.github.gpujoin.flink.plan.TableInput;
import io.github.gpujoin.flink.plan.UncopiedType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.flink.annotation.Experimental;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

/**
 * Joins two tables, with SQL before and after the join: a {@link PairJoin} for the Table API.
 *
 * <pre>{@code
 * Table enriched =
 *         TableJoin.in(tables)
 *                 .build(tables.sqlQuery("SELECT id, nation FROM customers"))
 *                 .probe(tables.from("orders"))
 *                 .on("customer_id", "id")         // probe column, build column
 *                 .left()
 *                 .uid("enrich-orders")
 *                 .toTable();
 * tables.createTemporaryView("enriched", enriched);
 * }</pre>
 *
 * <p>Rows travel as Flink's internal rows, without conversion. To leave the Table API with the
 * result, name the classes of its columns, as in {@code tables.toDataStream(enriched,
 * DataTypes.ROW(...))}; otherwise fields of the stream's rows are of internal classes. Both tables
 * must be insert-only, and the build table must be bounded, unless it is a {@linkplain
 * Tables#buildChangelog changelog}. The join loads the build table first.
 *
 * <p>The result has the probe table's columns, followed by the build table's unless the join is
 * semi or anti. A build column whose name exists is numbered, as in Flink SQL: {@code id0}.
 * Integers of any width compare as numbers. Other key columns have one type on both sides, as
 * {@link PairJoin} lists them.
 *
 * <p>Results carry the event timestamps and watermarks of the probe table, and its rowtime
 * attribute, as results of Flink's interval and temporal joins do. {@link #toTable(Schema)}
 * declares others.
 *
 * <p>Methods other than {@code toTable} change this builder and return it. After {@code toTable},
 * they throw {@link IllegalStateException}, except {@link #uid}. Not thread-safe.
 */
@Experimental
public final class TableJoin {

    private final StreamTableEnvironment tables;
    private final TableInput build;
    private final TableInput probe;
    private PairKind kind = PairKind.INNER;
    private boolean nullSafe;
    private @Nullable Distribution distribution;
    private @Nullable JoinFunction<RowData, RowData, Boolean> condition;
    private @Nullable Consumer<DataStream<BadRecord>> badRecords;
    private @Nullable Long expectedBytes;
    private @Nullable Long completeAtWatermark;
    private String uid = "gpu-join";
    private final BuiltJoin built = new BuiltJoin();

    private TableJoin(StreamTableEnvironment tables, TableInput build, TableInput probe) {
        this.tables = tables;
        this.build = build;
        this.probe = probe;
    }

    /**
     * Starts a join.
     *
     * @param tables the environment of both tables
     * @return a join whose build table is not chosen yet
     */
    public static Tables in(StreamTableEnvironment tables) {
        return new Tables(Objects.requireNonNull(tables, "tables"));
    }

    /** A join whose build table is not chosen yet. */
    @Experimental
    public static final class Tables {
        private final StreamTableEnvironment tables;

        private Tables(StreamTableEnvironment tables) {
            this.tables = tables;
        }

        /**
         * Chooses the build table.
         *
         * @param build the table that is loaded, usually the smaller one
         * @return a join whose probe table is not chosen yet
         * @throws IllegalArgumentException if its rows are updated or deleted
         */
        public Build build(Table build) {
            Objects.requireNonNull(build, "build");
            return new Build(tables, TableInput.of(TableInput.BUILD, tables, build));
        }

        /**
         * Chooses a build table whose rows are updated and deleted while probe rows are joined: a
         * {@linkplain Dimension#changelog() changelog} of one row a key. A probe row sees what the
         * table contains when the row arrives, and later changes retract no result. For inner,
         * left, semi and anti joins.
         *
         * <p>The join key should be the primary key of the table, or the columns of its GROUP BY.
         * Otherwise an update is a DELETE and an INSERT, and a probe row between the two has no
         * match. If changes of a row come from several subtasks, as after a join, Flink keeps the
         * rows in state to order the changes.
         *
         * <p>{@link #toTable} fails if the table has a primary key that the join's key does not
         * contain, or if a key column may be null and the join is {@linkplain #nullSafe null-safe}.
         *
         * @param build build table
         * @return a join whose probe table is not chosen yet
         */
        public Build buildChangelog(Table build) {
            Objects.requireNonNull(build, "build");
            return new Build(tables, TableInput.ofChangelog(TableInput.BUILD, tables, build));
        }
    }

    /** A join whose probe table is not chosen yet. */
    @Experimental
    public static final class Build {
        private final StreamTableEnvironment tables;
        private final TableInput build;

        private Build(StreamTableEnvironment tables, TableInput build) {
            this.tables = tables;
            this.build = build;
        }

        /**
         * Chooses the probe table.
         *
         * @param probe the table that streams
         * @return the join, to be described further
         * @throws IllegalArgumentException if its rows are updated or deleted
         */
        public TableJoin probe(Table probe) {
            Objects.requireNonNull(probe, "probe");
            return new TableJoin(tables, build, TableInput.of(TableInput.PROBE, tables, probe));
        }
    }

    /**
     * Adds a pair of columns that must be equal.
     *
     * @param probeColumn column of the probe table
     * @param buildColumn column of the build table
     * @return this builder
     * @throws IllegalArgumentException if a table has no such column
     */
    public TableJoin on(String probeColumn, String buildColumn) {
        built.requireNotBuilt("on");
        probe.requireColumn(Objects.requireNonNull(probeColumn, "probeColumn"), build);
        build.requireColumn(Objects.requireNonNull(buildColumn, "buildColumn"), probe);
        probe.addKey(probeColumn);
        build.addKey(buildColumn);
        return this;
    }

    /**
     * Treats nulls as equal, also inside composite keys ({@code IS NOT DISTINCT FROM}).
     *
     * @return this builder
     */
    public TableJoin nullSafe() {
        built.requireNotBuilt("nullSafe");
        nullSafe = true;
        return this;
    }

    /**
     * Keeps probe rows without a match; build columns are null there.
     *
     * @return this builder
     */
    public TableJoin left() {
        built.requireNotBuilt("left");
        kind = PairKind.LEFT;
        return this;
    }

    /**
     * Keeps build rows without a match; probe columns are null there. They are emitted at the end
     * of the probe table, which must be bounded. See {@link PairJoin.Keyed#right}.
     *
     * @return this builder
     */
    public TableJoin right() {
        built.requireNotBuilt("right");
        kind = PairKind.RIGHT;
        return this;
    }

    /**
     * Keeps rows of both tables without a match, as {@link #left()} and {@link #right()}.
     *
     * @return this builder
     */
    public TableJoin full() {
        built.requireNotBuilt("full");
        kind = PairKind.FULL;
        return this;
    }

    /**
     * Keeps a probe row once if it has a match. The result has no build columns.
     *
     * @return this builder
     */
    public TableJoin semi() {
        built.requireNotBuilt("semi");
        kind = PairKind.SEMI;
        return this;
    }

    /**
     * Keeps a probe row once if it has no match. The result has no build columns.
     *
     * @return this builder
     */
    public TableJoin anti() {
        built.requireNotBuilt("anti");
        kind = PairKind.ANTI;
        return this;
    }

    /**
     * Adds a condition that rows with equal keys must meet to match: see {@link
     * PairJoin.Keyed#matching}. A {@linkplain Tables#buildChangelog changelog} permits none.
     *
     * @param condition receives the build row first, then the probe row, each with all columns of
     *     its table; must neither change nor keep the rows
     * @return this builder
     */
    public TableJoin matching(JoinFunction<RowData, RowData, Boolean> condition) {
        built.requireNotBuilt("matching");
        this.condition = Objects.requireNonNull(condition, "condition");
        return this;
    }

    /**
     * Sends the whole build table to every subtask; probe rows stay where they are. Of this call
     * and {@link #partitioned}, the last counts.
     *
     * @return this builder
     */
    public TableJoin replicated() {
        built.requireNotBuilt("replicated");
        distribution = Distribution.REPLICATED;
        return this;
    }

    /**
     * Sends rows of both tables to the subtask of their key, whatever the expected size.
     *
     * @return this builder
     */
    public TableJoin partitioned() {
        built.requireNotBuilt("partitioned");
        distribution = Distribution.PARTITIONED;
        return this;
    }

    /**
     * States the size of the build table: see {@link PairJoin.Keyed#expectedBytes}.
     *
     * @param bytes from 0
     * @return this builder
     */
    public TableJoin expectedBytes(long bytes) {
        built.requireNotBuilt("expectedBytes");
        expectedBytes = bytes;
        return this;
    }

    /**
     * Sets the watermark of a {@linkplain Tables#buildChangelog changelog} from which on probe rows
     * are joined. Without this call, the join starts at once.
     *
     * @param watermark event time in ms; {@link Long#MAX_VALUE} for the end of the build table
     * @return this builder
     */
    public TableJoin completeAtWatermark(long watermark) {
        built.requireNotBuilt("completeAtWatermark");
        completeAtWatermark = watermark;
        return this;
    }

    /**
     * Sends unreadable rows of both tables to a stream: see {@link StarJoin#badRecords}.
     *
     * @param sink receives the stream of bad records
     * @return this builder
     */
    public TableJoin badRecords(Consumer<DataStream<BadRecord>> sink) {
        built.requireNotBuilt("badRecords");
        badRecords = Objects.requireNonNull(sink, "sink");
        return this;
    }

    /**
     * Sets the prefix of the uids of the join's operators: see {@link PairJoin.Keyed#uid}.
     *
     * @param uid prefix of the uids
     * @return this builder
     */
    public TableJoin uid(String uid) {
        this.uid = JoinUid.of(Objects.requireNonNull(uid, "uid")).text();
        return this;
    }

    /**
     * Describes how this join will run, and why: see {@link StarJoin#explain()}.
     *
     * @return the plan, whose {@code toString} is a text for people
     * @throws IllegalArgumentException if the description is incomplete or contradicts itself
     */
    public JoinExplanation explain() {
        requireConsistent();
        return build.isChangelog()
                ? joinWithChangelog(resultType()).explain()
                : joinWithWhole().explain();
    }

    /**
     * Builds the join. The probe table's rowtime attribute, if it has one, is that of the result,
     * with the probe table's watermark; not so for right and full joins, whose rows may have none.
     * Other time attributes become plain timestamps.
     *
     * @return the result
     * @throws IllegalArgumentException if the description is incomplete or contradicts itself
     */
    public Table toTable() {
        DataStream<RowData> results = results();
        if (probe.rowtimeColumn() == null || kind.keepsUnmatchedBuild()) {
            return tables.fromDataStream(results);
        }
        return tables.fromDataStream(
                results,
                Schema.newBuilder().watermark(probe.rowtimeColumn(), "SOURCE_WATERMARK()").build());
    }

    /**
     * Builds the join; the schema declares columns, watermarks and time attributes of the result.
     *
     * @param schema schema of the result
     * @return the result
     * @throws IllegalArgumentException if the description is incomplete or contradicts itself
     */
    public Table toTable(Schema schema) {
        Objects.requireNonNull(schema, "schema");
        return tables.fromDataStream(results(), schema);
    }

    private DataStream<RowData> results() {
        DataStream<RowData> results = join();
        built.mark(JoinUid.of(uid));
        // The planner's operator behind the join only converts each row for the next one.
        return UncopiedType.stream(results);
    }

    private DataStream<RowData> join() {
        requireConsistent();
        RowType type = resultType();
        if (build.isChangelog()) {
            return joinWithChangelog(type).toRecords(InternalTypeInfo.of(type));
        }
        PairJoin.Keyed<RowData, RowData> join = joinWithWhole();
        if (!hasBuildColumns()) {
            return join.apply((b, p) -> p, InternalTypeInfo.of(type));
        }
        return join.apply(
                new JoinedTableRows(build.rowType(), probe.rowType()), InternalTypeInfo.of(type));
    }

    private void requireConsistent() {
        if (build.keyColumns().isEmpty()) {
            throw new IllegalArgumentException(
                    "No key columns: uid=%s. Add .on(probeColumn, buildColumn).".formatted(uid));
        }
        if (!build.isChangelog() && completeAtWatermark != null) {
            throw new IllegalArgumentException(
                    "The build table is complete at its end, not at a watermark: watermark=%d, uid=%s."
                                    .formatted(completeAtWatermark, uid)
                            + " Remove .completeAtWatermark(...) or use .buildChangelog(table).");
        }
        if (build.isChangelog() && condition != null) {
            throw new IllegalArgumentException(
                    "A join with .buildChangelog(table) has a condition: uid=%s. Remove .matching(...)"
                                    .formatted(uid)
                            + " and filter the result, or use .build(table).");
        }
    }

    private PairJoin.Keyed<RowData, RowData> joinWithWhole() {
        PairJoin.Keyed<RowData, RowData> join =
                PairJoin.build(build.boundedStream())
                        .probe(probe.stream())
                        .<Row>where(build.key(), build.key().keyType())
                        .equalTo(probe.key(), probe.key().keyType())
                        .uid(JoinUid.of(uid).ofTable());
        switch (kind) {
            case INNER -> {}
            case LEFT -> join.left();
            case RIGHT -> join.right();
            case FULL -> join.full();
            case SEMI -> join.semi();
            case ANTI -> join.anti();
        }
        if (nullSafe) {
            join.nullSafe();
        }
        if (distribution == Distribution.REPLICATED) {
            join.replicated();
        } else if (distribution == Distribution.PARTITIONED) {
            join.partitioned();
        }
        if (expectedBytes != null) {
            join.expectedBytes(expectedBytes);
        }
        if (condition != null) {
            join.matching(condition);
        }
        if (badRecords != null) {
            join.badRecords(badRecords);
        }
        return join;
    }

    private StarJoin<RowData> joinWithChangelog(RowType type) {
        StarJoin<RowData> join =
                StarJoin.of(probe.stream())
                        .select(probe.rowType().getFieldNames().toArray(String[]::new))
                        .dimension(build.changes(nullSafe), d -> describe(d, type))
                        .uid(JoinUid.of(uid).ofTable());
        if (badRecords != null) {
            join.badRecords(badRecords);
        }
        return join;
    }

    private void describe(Dimension<RowData> dimension, RowType resultType) {
        dimension.named("build").changelog(TableInput::changeOf);
        for (int i = 0; i < build.keyColumns().size(); i++) {
            dimension.on(probe.keyColumns().get(i), build.keyColumns().get(i));
        }
        switch (kind) {
            case INNER -> {}
            case LEFT -> dimension.left();
            case SEMI -> dimension.semi();
            case ANTI -> dimension.anti();
            case RIGHT, FULL ->
                    throw new IllegalArgumentException(
                            "A %s join needs a build table that does not change: uid=%s. Use .build(table), or .left()."
                                    .formatted(kind, uid));
        }
        if (hasBuildColumns()) {
            dimension.select(buildSelection(resultType));
        }
        if (nullSafe) {
            dimension.nullSafe();
        }
        if (distribution == Distribution.REPLICATED) {
            dimension.replicated();
        } else if (distribution == null && expectedBytes != null) {
            dimension.expectedBytes(expectedBytes);
        } else {
            dimension.partitioned();
        }
        if (completeAtWatermark != null) {
            dimension.completeAtWatermark(completeAtWatermark);
        }
    }

    private String[] buildSelection(RowType resultType) {
        int first = probe.rowType().getFieldCount();
        String[] selection = new String[build.rowType().getFieldCount()];
        for (int i = 0; i < selection.length; i++) {
            String column = build.rowType().getFieldNames().get(i);
            String name = resultType.getFieldNames().get(first + i);
            selection[i] = name.equals(column) ? column : column + " AS " + name;
        }
        return selection;
    }

    private boolean hasBuildColumns() {
        return kind != PairKind.SEMI && kind != PairKind.ANTI;
    }

    private RowType resultType() {
        List<RowType.RowField> fields = new ArrayList<>();
        Set<String> names = new HashSet<>(probe.rowType().getFieldNames());
        for (RowType.RowField field : probe.rowType().getFields()) {
            fields.add(field(field.getName(), field.getType(), mayBeNull(field.getName())));
        }
        if (hasBuildColumns()) {
            Set<String> usedNames = new HashSet<>(names);
            usedNames.addAll(build.rowType().getFieldNames());
            for (RowType.RowField field : build.rowType().getFields()) {
                String name = field.getName();
                for (int i = 0; names.contains(name); i++) {
                    String numbered = field.getName() + i;
                    name = usedNames.contains(numbered) ? name : numbered;
                }
                names.add(name);
                fields.add(field(name, field.getType(), kind.keepsUnmatchedProbe()));
            }
        }
        return new RowType(false, fields);
    }

    /** A changelog's join keeps probe rows of null keys, also if the planner knows of none. */
    private boolean mayBeNull(String probeColumn) {
        return kind.keepsUnmatchedBuild()
                || build.isChangelog()
                        && kind.keepsUnmatchedProbe()
                        && probe.keyColumns().contains(probeColumn);
    }

    private static RowType.RowField field(String name, LogicalType type, boolean nullable) {
        return new RowType.RowField(name, nullable ? type.copy(true) : type);
    }
}
