// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.ssb;

import io.github.gpujoin.examples.data.SsbTables;
import io.github.gpujoin.examples.files.TableFormat;
import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.run.JobCluster;
import io.github.gpujoin.examples.tbl.TblColumn;
import io.github.gpujoin.examples.tbl.TblTable;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.api.config.OptimizerConfigOptions;
import org.apache.flink.table.catalog.ObjectPath;
import org.apache.flink.table.catalog.stats.CatalogTableStatistics;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;
import org.jspecify.annotations.Nullable;

/**
 * Flink SQL over its filesystem connector, in batch or in streaming mode. Joins are reordered by
 * the numbers of rows: without that, several queries begin with a product of dimensions.
 */
final class FlinkSql implements SsbContender {

    /** Their sums exceed 32 bits, and Flink's sum of an INT is an INT. */
    private static final Set<String> WIDENED =
            Set.of("lo_extendedprice", "lo_revenue", "lo_supplycost");

    private static final long MINI_BATCH_ROWS = 5000;

    private final String name;
    private final JobCluster cluster;
    private final Configuration options;
    private final boolean isBatch;

    private FlinkSql(String name, JobCluster cluster, RuntimeExecutionMode mode) {
        this.name = name;
        this.cluster = cluster;
        this.isBatch = mode == RuntimeExecutionMode.BATCH;
        this.options = new Configuration();
        options.set(ExecutionOptions.RUNTIME_MODE, mode);
        options.set(OptimizerConfigOptions.TABLE_OPTIMIZER_JOIN_REORDER_ENABLED, true);
        options.set(OptimizerConfigOptions.TABLE_OPTIMIZER_SOURCE_REPORT_STATISTICS_ENABLED, false);
    }

    /** Creates the jobs of batch mode, with Flink's defaults but for the order of joins. */
    static FlinkSql batch(String name, JobCluster cluster) {
        return new FlinkSql(name, cluster, RuntimeExecutionMode.BATCH);
    }

    /**
     * Creates the jobs of streaming mode: regular joins, which keep both sides in state, in RocksDB
     * because the facts outgrow a heap; with mini-batches.
     */
    static FlinkSql streaming(String name, JobCluster cluster) {
        FlinkSql streaming = new FlinkSql(name, cluster, RuntimeExecutionMode.STREAMING);
        Configuration options = streaming.options;
        options.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
        options.set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ENABLED, true);
        options.set(
                ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ALLOW_LATENCY, Duration.ofSeconds(1));
        options.set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_SIZE, MINI_BATCH_ROWS);
        return streaming;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public @Nullable String obstacle(SsbFiles files) {
        return files.format() == TableFormat.ARROW ? "Flink has no format for Arrow files" : null;
    }

    @Override
    public List<String> answer(Query query, SsbFiles files) throws Exception {
        StreamTableEnvironment tables = StreamTableEnvironment.create(cluster.env(options));
        for (TblTable table : SsbTables.ALL) {
            tables.executeSql(file(table, files));
            setStatistics(tables, table, files);
            tables.executeSql(view(table));
        }
        // No two rows of an answer are equal: each has its own group.
        Set<List<Object>> rows = new HashSet<>();
        try (CloseableIterator<Row> changes = tables.executeSql(sql(query)).collect()) {
            changes.forEachRemaining(change -> apply(change, rows));
        }
        if (rows.isEmpty() && query.isGrandTotal()) {
            rows.add(Collections.singletonList(null)); // streaming mode emits no sum of nothing
        }
        return SsbContender.sorted(rows.stream());
    }

    /** Sets what ANALYZE TABLE would; the connector knows none of some formats. */
    private static void setStatistics(StreamTableEnvironment tables, TblTable table, SsbFiles files)
            throws Exception {
        long bytes = Files.size(files.file(table));
        tables.getCatalog(tables.getCurrentCatalog())
                .orElseThrow()
                .alterTableStatistics(
                        new ObjectPath(tables.getCurrentDatabase(), table.name() + "_file"),
                        new CatalogTableStatistics(files.estimateRows(table), 1, bytes, bytes),
                        false);
    }

    private static void apply(Row change, Set<List<Object>> rows) {
        List<Object> row = new ArrayList<>();
        for (int i = 0; i < change.getArity(); i++) {
            row.add(change.getField(i));
        }
        if (change.getKind() == RowKind.INSERT || change.getKind() == RowKind.UPDATE_AFTER) {
            rows.add(row);
        } else if (!rows.remove(row)) {
            throw new IllegalStateException("Retracted row was never emitted: row=" + row);
        }
    }

    /** Returns the query in Flink's SQL. Flink does not sort an unbounded result. */
    private String sql(Query query) {
        String sql = query.sql().replaceAll("\\bdate\\b", "`date`");
        int order = sql.indexOf("order by");
        return isBatch || order < 0 ? sql : sql.substring(0, order);
    }

    private static String file(TblTable table, SsbFiles files) {
        String columns =
                table.columns().stream()
                        .map(column -> column.name() + " " + type(column))
                        .collect(Collectors.joining(", "));
        String options =
                switch (files.formatName()) {
                    case "tbl" ->
                            "'format' = 'csv', 'csv.field-delimiter' = '|',"
                                    + " 'csv.disable-quote-character' = 'true'";
                    // The line of names becomes a row without keys, which joins nothing.
                    case "csv" -> "'format' = 'csv', 'csv.ignore-parse-errors' = 'true'";
                    default -> "'format' = '" + files.formatName() + "'";
                };
        // Lines of .tbl files end with a delimiter.
        return "create table %s_file (%s%s) with ('connector' = 'filesystem', 'path' = '%s', %s)"
                .formatted(
                        table.name(),
                        columns,
                        files.format() == null ? ", line_end string" : "",
                        files.file(table).toUri().toString().replace("'", "''"),
                        options);
    }

    private static String view(TblTable table) {
        String columns =
                table.columns().stream()
                        .map(TblColumn::name)
                        .map(
                                column ->
                                        WIDENED.contains(column)
                                                ? "cast(%s as bigint) as %<s".formatted(column)
                                                : column)
                        .collect(Collectors.joining(", "));
        return "create temporary view `%1$s` as select %2$s from %1$s_file"
                .formatted(table.name(), columns);
    }

    private static String type(TblColumn column) {
        return switch (column.type()) {
            case INT32 -> "int";
            case INT64 -> "bigint";
            case HUNDREDTHS -> "decimal(15, 2)";
            case DATE -> "date";
            case TEXT -> "string";
        };
    }
}
