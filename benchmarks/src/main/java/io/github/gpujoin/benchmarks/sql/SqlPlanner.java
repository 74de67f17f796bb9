// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import io.github.gpujoin.benchmarks.planner.HiddenPlanner;
import java.time.Duration;
import java.util.function.Consumer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.api.config.OptimizerConfigOptions;

/** A contender: settings of the planner that plans a query. */
public enum SqlPlanner {
    /** Joins of this project, with Flink's defaults. */
    OURS("ours", true, options -> {}),

    /** Joins of this project where Flink's optimizer plans joins of several inputs. */
    OURS_MULTI_JOIN("ours-multi-join", true, SqlPlanner::multiJoin),

    /** Flink's defaults. */
    FLINK("flink", false, options -> {}),

    /** Mini-batches as the public Nexmark suite sets them. */
    FLINK_MINI_BATCH("flink-mini-batch", false, SqlPlanner::miniBatch),

    /** Joins of more than two inputs in one operator, where Flink's optimizer allows. */
    FLINK_MULTI_JOIN("flink-multi-join", false, SqlPlanner::multiJoin);

    private static final Duration MINI_BATCH_LATENCY = Duration.ofSeconds(2);
    private static final long MINI_BATCH_ROWS = 5000;

    private final String label;
    private final boolean replacesJoins;
    private final Consumer<Configuration> settings;

    SqlPlanner(String label, boolean replacesJoins, Consumer<Configuration> settings) {
        this.label = label;
        this.replacesJoins = replacesJoins;
        this.settings = settings;
    }

    private static void miniBatch(Configuration options) {
        options.set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ENABLED, true);
        options.set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ALLOW_LATENCY, MINI_BATCH_LATENCY);
        options.set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_SIZE, MINI_BATCH_ROWS);
    }

    private static void multiJoin(Configuration options) {
        options.set(OptimizerConfigOptions.TABLE_OPTIMIZER_MULTI_JOIN_ENABLED, true);
    }

    /** Returns the name in reports. */
    public String label() {
        return label;
    }

    /** Prepares an environment for the statements that it plans from now on. */
    void prepare(TableEnvironment tables) {
        if (replacesJoins) {
            HiddenPlanner.replaceJoins(tables);
        }
    }

    /** Returns the settings beside those that all contenders have. */
    Configuration options() {
        Configuration options = new Configuration();
        settings.accept(options);
        return options;
    }
}
