// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.table.api.PlanReference;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.config.OptimizerConfigOptions;
import org.apache.flink.table.planner.factories.TestValuesTableFactory;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Savepoints of jobs of SQL: which of them restore the state of a join. */
@Timeout(120)
class SqlSavepointITCase {

    @RegisterExtension private static final MiniClusterExtension CLUSTER = SqlComparison.cluster();

    private static final int ROWS = 400;
    private static final int SLOW = 100;
    private static final int FAST = 100_000;

    /** The first row of one side has a match in the last row of the other side. */
    private static final String JOIN =
            "INSERT INTO sink SELECT a.id, b.id FROM a JOIN b ON a.id = %d - b.id"
                    .formatted(ROWS + 1);

    /** All inputs have one key, so that the planner puts them into one join. */
    private static final String MULTI_JOIN = JOIN + " JOIN c ON a.id = c.id";

    private static final String STAR_JOIN =
            "INSERT INTO sink SELECT a.id, b.id FROM a JOIN bounded b ON a.id = %d - b.id"
                    .formatted(ROWS + 1);

    @TempDir private Path folder;

    @AfterEach
    void clear() {
        TestValuesTableFactory.clearAllData();
    }

    private static TableEnvironment environment(boolean enabled, int rowsPerSecond) {
        SqlComparison tables = new SqlComparison();
        for (String name : List.of("a", "b", "c")) {
            tables.with(
                    "CREATE TABLE %s (id INT) WITH ('connector'='datagen', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='%d', 'rows-per-second'='%d')"
                            .formatted(name, ROWS, rowsPerSecond));
        }
        return tables.with(
                        "CREATE TABLE sink (x INT, y INT) WITH ('connector'='values', 'sink-insert-only'='false')")
                .set("gpu-join.sql.enabled", String.valueOf(enabled))
                // Savepoints of a join need checkpoints.
                .set("execution.checkpointing.interval", "1 h")
                .environment();
    }

    /** Stops a job when it has some of its results, and returns the savepoint. */
    private String stopped(JobClient job) throws Exception {
        while (results().isEmpty()) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
        String savepoint =
                job.stopWithSavepoint(false, folder.toString(), SavepointFormatType.CANONICAL)
                        .get(60, TimeUnit.SECONDS);
        assertThat(results()).hasSizeLessThan(ROWS);
        return savepoint;
    }

    private static List<String> results() {
        return TestValuesTableFactory.getResultsAsStrings("sink");
    }

    private static TableEnvironment restored(boolean enabled, String savepoint) {
        TableEnvironment tables = environment(enabled, FAST);
        tables.getConfig().set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
        // A job that ends waits for its last checkpoint.
        tables.getConfig().set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(200));
        return tables;
    }

    private static List<String> allPairs() {
        return IntStream.rangeClosed(1, ROWS)
                .mapToObj(i -> "+I[%d, %d]".formatted(i, ROWS + 1 - i))
                .toList();
    }

    private static JobClient started(TableEnvironment tables) {
        return tables.executeSql(JOIN).getJobClient().orElseThrow();
    }

    @Test
    void shouldRestoreStateOfTheJoin() throws Exception {
        String savepoint = stopped(started(environment(true, SLOW)));

        restored(true, savepoint).executeSql(JOIN).await();

        assertThat(results()).containsExactlyInAnyOrderElementsOf(allPairs());
    }

    @Test
    void shouldRestoreStateOfTheMultiJoin() throws Exception {
        TableEnvironment tables = withMultiJoin(environment(true, SLOW));
        assertThat(tables.explainSql(MULTI_JOIN)).contains("GpuMultiJoin(");
        String savepoint = stopped(tables.executeSql(MULTI_JOIN).getJobClient().orElseThrow());

        withMultiJoin(restored(true, savepoint)).executeSql(MULTI_JOIN).await();

        assertThat(results()).containsExactlyInAnyOrderElementsOf(allPairs());
    }

    /** The bounded side has ended before the savepoint, so its rows are read from state. */
    @Test
    void shouldRestoreBoundedSideOfAStarJoin() throws Exception {
        TableEnvironment tables = withBoundedTable(environment(true, SLOW));
        assertThat(tables.explainSql(STAR_JOIN)).contains("GpuStarJoin(");
        String savepoint = stopped(tables.executeSql(STAR_JOIN).getJobClient().orElseThrow());

        withBoundedTable(restored(true, savepoint)).executeSql(STAR_JOIN).await();

        assertThat(results()).containsExactlyInAnyOrderElementsOf(allPairs());
    }

    private static TableEnvironment withBoundedTable(TableEnvironment tables) {
        tables.executeSql(
                "CREATE TABLE bounded (id INT) WITH ('connector'='datagen', 'number-of-rows'='%1$d', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='%1$d')"
                        .formatted(ROWS));
        return tables;
    }

    private static TableEnvironment withMultiJoin(TableEnvironment tables) {
        tables.getConfig().set(OptimizerConfigOptions.TABLE_OPTIMIZER_MULTI_JOIN_ENABLED, true);
        return tables;
    }

    /** So the page on semantics advises to start without the savepoint. */
    @Test
    void shouldLackRowsBeforeASavepointOfFlinksJoin() throws Exception {
        String savepoint = stopped(started(environment(false, SLOW)));
        assertThatThrownBy(() -> restored(true, savepoint).executeSql(JOIN).await())
                .hasStackTraceContaining("--allowNonRestoredState");
        TestValuesTableFactory.clearAllData();

        TableEnvironment tables = restored(true, savepoint);
        tables.getConfig().set(StateRecoveryOptions.SAVEPOINT_IGNORE_UNCLAIMED_STATE, true);
        tables.executeSql(JOIN).await();

        // Flink finds the state of one source.
        assertThat(allPairs()).containsAll(results()).hasSizeGreaterThan(results().size());
    }

    @Test
    void shouldRestoreFlinksJoinOfACompiledPlan() throws Exception {
        Path plan = folder.resolve("plan.json");
        TableEnvironment compiling = environment(false, SLOW);
        compiling.compilePlanSql(JOIN).writeToFile(plan);
        PlanReference reference = PlanReference.fromFile(plan);
        String savepoint =
                stopped(
                        environment(true, SLOW)
                                .loadPlan(reference)
                                .execute()
                                .getJobClient()
                                .orElseThrow());

        TableEnvironment tables = restored(true, savepoint);
        assertThat(tables.loadPlan(reference).explain())
                .contains("Join(")
                .doesNotContain("GpuJoin");
        tables.loadPlan(reference).execute().await();

        assertThat(results()).containsExactlyInAnyOrderElementsOf(allPairs());
    }
}
