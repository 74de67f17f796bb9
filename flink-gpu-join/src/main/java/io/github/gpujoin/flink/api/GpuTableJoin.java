package io.github.gpujoin.flink.api;

import io.github.gpujoin.flink.pipeline.JoinedTableRows;
import io.github.gpujoin.flink.pipeline.TableSide;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
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
 * <p>Rows travel as Flink's internal ones and are not converted. Both tables are insert-only; the
 * build table is bounded, and loaded first. The result has the probe table's columns, then, unless
 * the kind of join is semi or anti, the build table's; as in {@link Table#join}, no two have one
 * name. Integers of any width are compared as numbers; other key columns are of one type, as {@link
 * GpuJoin} lists them. Event timestamps and watermarks of the probe table go on with the results,
 * whose columns of time attributes are plain timestamps: {@link #toTable(Schema)} can make one a
 * time attribute again, {@code watermark("ts", "SOURCE_WATERMARK()")}.
 *
 * <p>Methods change this builder and return it. Not thread-safe.
 */
public final class GpuTableJoin {

    private final StreamTableEnvironment tables;
    private final TableSide build;
    private final TableSide probe;
    private final List<Consumer<GpuJoin.Keyed<RowData, RowData>>> settings = new ArrayList<>();
    private boolean hasKey;
    private Columns columns = Columns.BOTH;

    /** Of which tables a result has columns, and which of them may be null throughout. */
    private enum Columns {
        BOTH,
        BUILD_NULLABLE,
        PROBE_NULLABLE,
        ALL_NULLABLE,
        PROBE_ONLY;

        boolean buildIsNullable() {
            return this == BUILD_NULLABLE || this == ALL_NULLABLE;
        }

        boolean probeIsNullable() {
            return this == PROBE_NULLABLE || this == ALL_NULLABLE;
        }
    }

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
        hasKey = true;
        return this;
    }

    private GpuTableJoin with(Consumer<GpuJoin.Keyed<RowData, RowData>> setting) {
        settings.add(setting);
        return this;
    }

    private GpuTableJoin with(Columns columns, Consumer<GpuJoin.Keyed<RowData, RowData>> kind) {
        this.columns = columns;
        return with(kind);
    }

    /** See {@link GpuJoin.Keyed#left}. */
    public GpuTableJoin left() {
        return with(Columns.BUILD_NULLABLE, GpuJoin.Keyed::left);
    }

    /** See {@link GpuJoin.Keyed#right}. */
    public GpuTableJoin right() {
        return with(Columns.PROBE_NULLABLE, GpuJoin.Keyed::right);
    }

    /** See {@link GpuJoin.Keyed#full}. */
    public GpuTableJoin full() {
        return with(Columns.ALL_NULLABLE, GpuJoin.Keyed::full);
    }

    /** See {@link GpuJoin.Keyed#semi}. */
    public GpuTableJoin semi() {
        return with(Columns.PROBE_ONLY, GpuJoin.Keyed::semi);
    }

    /** See {@link GpuJoin.Keyed#anti}. */
    public GpuTableJoin anti() {
        return with(Columns.PROBE_ONLY, GpuJoin.Keyed::anti);
    }

    /** See {@link GpuJoin.Keyed#nullSafe}. */
    public GpuTableJoin nullSafe() {
        return with(GpuJoin.Keyed::nullSafe);
    }

    /** See {@link GpuJoin.Keyed#replicated}. */
    public GpuTableJoin replicated() {
        return with(GpuJoin.Keyed::replicated);
    }

    /** See {@link GpuJoin.Keyed#expectedBytes}. */
    public GpuTableJoin expectedBytes(long bytes) {
        return with(join -> join.expectedBytes(bytes));
    }

    /** See {@link GpuJoin.Keyed#uid}. */
    public GpuTableJoin uid(String uid) {
        return with(join -> join.uid(uid));
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
        if (!hasKey) {
            throw new IllegalArgumentException("tables are joined on columns, .on(probe, build)");
        }
        GpuJoin.Keyed<RowData, RowData> join =
                GpuJoin.build(build.stream())
                        .probe(probe.stream())
                        .<Row>where(build.key(), build.keyType())
                        .equalTo(probe.key(), probe.keyType());
        settings.forEach(setting -> setting.accept(join));
        RowType type = resultType();
        if (columns == Columns.PROBE_ONLY) {
            return join.apply((b, p) -> p, InternalTypeInfo.of(type));
        }
        return join.apply(
                new JoinedTableRows(
                        build.rowType().getFieldCount(), probe.rowType().getFieldCount()),
                InternalTypeInfo.of(type));
    }

    private RowType resultType() {
        List<RowType.RowField> fields = new ArrayList<>();
        add(fields, probe.rowType(), columns.probeIsNullable());
        if (columns != Columns.PROBE_ONLY) {
            add(fields, build.rowType(), columns.buildIsNullable());
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
