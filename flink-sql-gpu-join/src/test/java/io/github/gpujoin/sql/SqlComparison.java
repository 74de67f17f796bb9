// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;

/** Runs a query with and without this project's joins, and compares what the changes add up to. */
public final class SqlComparison {

    private final List<String> statements = new ArrayList<>();
    private final Map<String, String> options = new HashMap<>();
    private EnvironmentSettings mode = EnvironmentSettings.inStreamingMode();

    /** Returns the cluster of a test, which all of its statements share. */
    public static MiniClusterExtension cluster() {
        return new MiniClusterExtension(
                new MiniClusterResourceConfiguration.Builder()
                        .setNumberTaskManagers(1)
                        .setNumberSlotsPerTaskManager(4)
                        .build());
    }

    public SqlComparison with(String statement) {
        statements.add(statement);
        return this;
    }

    public SqlComparison set(String key, String value) {
        options.put(key, value);
        return this;
    }

    public SqlComparison inBatchMode() {
        mode = EnvironmentSettings.inBatchMode();
        return this;
    }

    private TableEnvironment environment(boolean enabled) {
        TableEnvironment tables = environment();
        tables.getConfig().set(GpuJoinOptions.SQL_ENABLED, enabled);
        return tables;
    }

    /** Returns an environment with the options as they were set. */
    public TableEnvironment environment() {
        TableEnvironment tables = TableEnvironment.create(mode);
        tables.getConfig().set("parallelism.default", "2");
        tables.getConfig().set("gpu-join.engine", "cpu");
        options.forEach(tables.getConfig()::set);
        GpuJoin.enable(tables);
        statements.forEach(tables::executeSql);
        return tables;
    }

    public String explain(String query) {
        return environment(true).explainSql(query);
    }

    String explain(Function<TableEnvironment, Table> query) {
        return query.apply(environment(true)).explain();
    }

    /** Returns the results with this project's joins, sorted, after all changes. */
    public List<String> results(String query) throws Exception {
        return materialized(environment(true), query);
    }

    /** Returns the results of Flink's joins, sorted, after all changes. */
    List<String> flinkResults(String query) throws Exception {
        return materialized(environment(false), query);
    }

    /** Compares the results as multisets, after all changes. */
    public void assertEqual(String query) throws Exception {
        List<String> expected = flinkResults(query);
        assertThat(expected).isNotEmpty();
        assertThat(results(query)).containsExactlyElementsOf(expected);
    }

    /** Compares results of a query of the Table API in the same way. */
    void assertEqual(Function<TableEnvironment, Table> query) throws Exception {
        List<String> expected = materialized(query.apply(environment(false)).execute());
        assertThat(expected).isNotEmpty();
        assertThat(materialized(query.apply(environment(true)).execute()))
                .containsExactlyElementsOf(expected);
    }

    private static List<String> materialized(TableEnvironment tables, String query)
            throws Exception {
        return materialized(tables.executeSql(query));
    }

    private static List<String> materialized(TableResult result) throws Exception {
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<Row> results = result.collect()) {
            while (results.hasNext()) {
                Row row = results.next();
                RowKind kind = row.getKind();
                row.setKind(RowKind.INSERT);
                if (kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER) {
                    rows.add(row.toString());
                } else {
                    assertThat(rows.remove(row.toString()))
                            .as("retracts a row that exists: %s", row)
                            .isTrue();
                }
            }
        }
        rows.sort(null);
        return rows;
    }
}
