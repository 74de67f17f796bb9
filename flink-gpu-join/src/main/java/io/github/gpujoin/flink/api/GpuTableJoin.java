package io.github.gpujoin.flink.api;

import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.pipeline.JoinedTableRows;
import io.github.gpujoin.flink.pipeline.TableSide;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;

/**
 * Joins two tables, with SQL before and behind it: a {@link GpuJoin} for the Table API.
 *
 * <pre>{@code
 * Table enriched =
 *         GpuTableJoin.in(tables)
 *                 .build(tables.sqlQuery("SELECT id, nation FROM customers"))
 *                 .probe(tables.from("orders"))
 *                 .on("customer_id", "id")         // probe column, build column
 *                 .left()
 *                 .toTable();
 * tables.createTemporaryView("enriched", enriched);
 * }</pre>
 *
 * <p>Rows travel as Flink's internal ones and are not converted. Both tables are insert-only, and
 * the build table is bounded and loaded first, unless it {@linkplain Tables#buildChangelog
 * changes}. The result has the probe table's columns, then, unless the kind of join is semi or
 * anti, the build table's; as in {@link Table#join}, no two have one name. Integers of any width
 * are compared as numbers; other key columns are of one type, as {@link GpuJoin} lists them. Event
 * timestamps and watermarks of the probe table go on with the results, whose columns of time
 * attributes are plain timestamps: {@link #toTable(Schema)} can make one a time attribute again,
 * {@code watermark("ts", "SOURCE_WATERMARK()")}.
 *
 * <p>Methods change this builder and return it. Not thread-safe.
 */
public final class GpuTableJoin {

    private final StreamTableEnvironment tables;
    private final TableSide build;
    private final TableSide probe;
    private PairKind kind = PairKind.INNER;
    private boolean nullSafe;
    private boolean replicated;
    private Long expectedBytes;
    private Long completeAtWatermark;
    private String uid = "gpu-join";

    private GpuTableJoin(StreamTableEnvironment tables, TableSide build, TableSide probe) {
        this.tables = tables;
        this.build = build;
        this.probe = probe;
    }

    /** The environment of both tables. */
    public static Tables in(StreamTableEnvironment tables) {
        return new Tables(Objects.requireNonNull(tables, "tables"));
    }

    /** An environment, waiting for a build table. */
    public static final class Tables {
        private final StreamTableEnvironment tables;

        private Tables(StreamTableEnvironment tables) {
            this.tables = tables;
        }

        /**
         * The table that is loaded; as a rule the smaller one.
         *
         * @throws IllegalArgumentException where its rows are updated or deleted
         */
        public Build build(Table build) {
            return new Build(tables, TableSide.of("build", tables, build));
        }

        /**
         * A table whose rows are updated and deleted while probe rows are joined, one row a key: a
         * {@linkplain Dimension#changelog() dimension that changes}. A probe row is joined with
         * what the table holds when it comes, and its result is not taken back when that changes.
         * For inner, left, semi and anti joins by keys of at most 64 bits.
         *
         * <p>Best where the planner knows a row by the key of the join: a primary key, or what is
         * grouped by. Else an update is a DELETE and an INSERT, and a probe row between the two has
         * no match; and where a row's changes come from several subtasks, as behind a join, Flink
         * keeps the rows in state to put these into order.
         *
         * @throws IllegalArgumentException where the key of the join is without a column of the
         *     table's primary key, if it has one, or may be null and the join is {@linkplain
         *     #nullSafe null-safe}; thrown by {@link #toTable}
         */
        public Build buildChangelog(Table build) {
            return new Build(tables, TableSide.ofChangelog("build", tables, build));
        }
    }

    /** The build table, waiting for a probe table. */
    public static final class Build {
        private final StreamTableEnvironment tables;
        private final TableSide build;

        private Build(StreamTableEnvironment tables, TableSide build) {
            this.tables = tables;
            this.build = build;
        }

        /**
         * The table that streams.
         *
         * @throws IllegalArgumentException where its rows are updated or deleted
         */
        public GpuTableJoin probe(Table probe) {
            return new GpuTableJoin(tables, build, TableSide.of("probe", tables, probe));
        }
    }

    /**
     * Columns that must be equal. Called again, further columns that must be equal too.
     *
     * @throws IllegalArgumentException where a table has no such column
     */
    public GpuTableJoin on(String probeColumn, String buildColumn) {
        probe.requireColumn(probeColumn);
        build.requireColumn(buildColumn);
        probe.addKey(probeColumn);
        build.addKey(buildColumn);
        return this;
    }

    /** See {@link GpuJoin.Keyed#left}. */
    public GpuTableJoin left() {
        kind = PairKind.LEFT;
        return this;
    }

    /** See {@link GpuJoin.Keyed#right}. */
    public GpuTableJoin right() {
        kind = PairKind.RIGHT;
        return this;
    }

    /** See {@link GpuJoin.Keyed#full}. */
    public GpuTableJoin full() {
        kind = PairKind.FULL;
        return this;
    }

    /** See {@link GpuJoin.Keyed#semi}. */
    public GpuTableJoin semi() {
        kind = PairKind.SEMI;
        return this;
    }

    /** See {@link GpuJoin.Keyed#anti}. */
    public GpuTableJoin anti() {
        kind = PairKind.ANTI;
        return this;
    }

    /** See {@link GpuJoin.Keyed#nullSafe}. */
    public GpuTableJoin nullSafe() {
        nullSafe = true;
        return this;
    }

    /** See {@link GpuJoin.Keyed#replicated}. */
    public GpuTableJoin replicated() {
        replicated = true;
        return this;
    }

    /** See {@link GpuJoin.Keyed#expectedBytes}. */
    public GpuTableJoin expectedBytes(long bytes) {
        expectedBytes = bytes;
        return this;
    }

    /**
     * The watermark of a build table that changes from which on probe rows are joined; {@link
     * Long#MAX_VALUE} for its end. Without this call, from the start.
     */
    public GpuTableJoin completeAtWatermark(long watermark) {
        completeAtWatermark = watermark;
        return this;
    }

    /** See {@link GpuJoin.Keyed#uid}. */
    public GpuTableJoin uid(String uid) {
        this.uid = Objects.requireNonNull(uid, "uid");
        return this;
    }

    /** The result as a table with the columns of both, none of them a time attribute. */
    public Table toTable() {
        return tables.fromDataStream(results());
    }

    /** The result as a table, its columns, watermarks and time attributes as a schema says. */
    public Table toTable(Schema schema) {
        return tables.fromDataStream(results(), schema);
    }

    private DataStream<RowData> results() {
        if (build.keyColumns().isEmpty()) {
            throw new IllegalArgumentException("tables are joined on columns, .on(probe, build)");
        }
        if (!build.isChangelog() && completeAtWatermark != null) {
            throw new IllegalArgumentException(
                    "a build table is complete at its end, unless it changes, .buildChangelog(table):"
                            + " completeAtWatermark="
                            + completeAtWatermark);
        }
        return build.isChangelog() ? joinWithChangelog() : joinWithWhole();
    }

    private DataStream<RowData> joinWithWhole() {
        GpuJoin.Keyed<RowData, RowData> join =
                GpuJoin.build(build.boundedStream())
                        .probe(probe.stream())
                        .<Row>where(build.key(), build.key().keyType())
                        .equalTo(probe.key(), probe.key().keyType())
                        .uid(uid);
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
        if (replicated) {
            join.replicated();
        }
        if (expectedBytes != null) {
            join.expectedBytes(expectedBytes);
        }
        RowType type = resultType();
        if (!hasBuildColumns()) {
            return join.apply((b, p) -> p, InternalTypeInfo.of(type));
        }
        return join.apply(
                new JoinedTableRows(
                        build.rowType().getFieldCount(), probe.rowType().getFieldCount()),
                InternalTypeInfo.of(type));
    }

    private DataStream<RowData> joinWithChangelog() {
        return StarJoin.of(probe.stream())
                .select(names(probe))
                .dimension(build.changes(nullSafe), this::describe)
                .uid(uid)
                .toRecords(InternalTypeInfo.of(resultType()));
    }

    private void describe(Dimension<RowData> dimension) {
        dimension.named("build").changelog(TableSide::changeOf);
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
                            "which rows of a table that changes have no match changes too, so there"
                                    + " is no right or full join with one: kind="
                                    + kind);
        }
        if (hasBuildColumns()) {
            dimension.select(names(build));
        }
        if (nullSafe) {
            dimension.nullSafe();
        }
        if (replicated) {
            dimension.replicated();
        } else if (expectedBytes != null) {
            dimension.expectedBytes(expectedBytes);
        } else {
            dimension.partitioned();
        }
        if (completeAtWatermark != null) {
            dimension.completeAtWatermark(completeAtWatermark);
        }
    }

    private static String[] names(TableSide side) {
        return side.rowType().getFieldNames().toArray(String[]::new);
    }

    private boolean hasBuildColumns() {
        return kind != PairKind.SEMI && kind != PairKind.ANTI;
    }

    private RowType resultType() {
        List<RowType.RowField> fields = new ArrayList<>();
        add(fields, probe.rowType(), kind.keepsUnmatchedBuild());
        if (hasBuildColumns()) {
            add(fields, build.rowType(), kind.keepsUnmatchedProbe());
        }
        Set<String> names = new HashSet<>();
        for (RowType.RowField field : fields) {
            if (!names.add(field.getName())) {
                throw new IllegalArgumentException(
                        "columns of both tables have different names, .renameColumns(...): column="
                                + field.getName());
            }
        }
        return new RowType(false, fields);
    }

    private static void add(List<RowType.RowField> fields, RowType side, boolean nullable) {
        for (RowType.RowField field : side.getFields()) {
            LogicalType type = field.getType();
            fields.add(new RowType.RowField(field.getName(), nullable ? type.copy(true) : type));
        }
    }
}
