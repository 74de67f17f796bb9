// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import io.github.gpujoin.sql.plan.GpuJoinCalciteConfig;
import java.util.Objects;
import org.apache.flink.annotation.Experimental;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.ValidationException;

/**
 * Runs joins of Flink SQL and of the Table API as this project's joins, without a change of the
 * queries.
 *
 * <pre>{@code
 * TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
 * GpuJoin.enable(tables);
 * tables.executeSql("INSERT INTO enriched SELECT ... FROM orders JOIN ...");
 * }</pre>
 *
 * <p>{@code EXPLAIN} shows each join that was replaced as {@code GpuJoin}, {@code GpuStarJoin},
 * {@code GpuMultiJoin} or {@code GpuTemporalJoin}, and the reason of a join that stays Flink's as
 * {@code gpuJoin=[...]}, as does the log. The option {@code gpu-join.sql.enabled} switches the
 * replacement off and on for later statements.
 */
@Experimental
public final class GpuJoin {

    private static final String PLANNER_CLASS =
            "org.apache.flink.table.planner.calcite.CalciteConfig";

    private static final String INSTALLED_CONFIG =
            "io.github.gpujoin.sql.plan.GpuJoinCalciteConfig";

    private GpuJoin() {}

    /**
     * Replaces joins of the statements that the environment plans from now on. A second call has no
     * effect, nor has a call in a process with this module's jar for {@code lib/}, which replaces
     * joins of all environments. Without that jar, the program needs {@code
     * flink-table-planner_2.12} on its class path instead of {@code flink-table-planner-loader}.
     *
     * @param tables environment of the statements
     * @throws ValidationException if the planner's classes are not on the class path
     */
    public static void enable(TableEnvironment tables) {
        enable(Objects.requireNonNull(tables, "tables").getConfig());
    }

    private static void enable(TableConfig config) {
        if (isInstalledByLibJar(config)) {
            return;
        }
        if (!isPlannerVisible()) {
            throw new ValidationException(
                    "Classes of the planner are hidden: missing=%s. Use flink-table-planner_2.12 instead of flink-table-planner-loader, or put flink-sql-gpu-join-lib.jar into lib/."
                            .formatted(PLANNER_CLASS));
        }
        Installation.install(config);
    }

    /**
     * The class of the configuration is that of the planner's class loader, so names are compared.
     */
    private static boolean isInstalledByLibJar(TableConfig config) {
        return config.getPlannerConfig().getClass().getName().equals(INSTALLED_CONFIG);
    }

    private static boolean isPlannerVisible() {
        try {
            Class.forName(PLANNER_CLASS, false, GpuJoin.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** A class of its own: only it links to the planner. */
    private static final class Installation {
        static void install(TableConfig config) {
            GpuJoinCalciteConfig.install(config);
        }
    }
}
