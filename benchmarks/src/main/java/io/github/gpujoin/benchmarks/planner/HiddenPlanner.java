// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.planner;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.cpu.symmetric.CpuSymmetricJoinFactory;
import io.github.gpujoin.flink.api.RegularJoin;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.sql.GpuJoin;
import java.net.URL;
import java.util.List;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.planner.loader.PlannerModule;

/**
 * Replaces joins in Flink's planner loader, which hides the planner. {@link GpuJoin#enable} needs a
 * visible planner, whose Scala 2.12 would collide with Kafka's 2.13. As in the jar for {@code
 * lib/}, the classes that plan joins are loaded again next to the planner.
 */
public final class HiddenPlanner {

    private static final String INSTALLER = "io.github.gpujoin.sql.plan.GpuJoinCalciteConfig";

    /** One class of each module and library that plans a join. */
    private static final List<Class<?>> PLANNED_WITH =
            List.of(
                    GpuJoin.class,
                    RegularJoin.class,
                    CpuSymmetricJoinFactory.class,
                    GpuOptions.class,
                    Transport.class,
                    Chunk.class);

    private static final ClassLoader PLANNER = open();

    private HiddenPlanner() {}

    private static ClassLoader open() {
        PlannerModule module = PlannerModule.getInstance();
        PLANNED_WITH.forEach(type -> module.addUrlToClassLoader(location(type)));
        return module.getSubmoduleClassLoader();
    }

    private static URL location(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    /** Replaces joins of the statements that the environment plans from now on. */
    public static void replaceJoins(TableEnvironment tables) {
        try {
            Class.forName(INSTALLER, true, PLANNER)
                    .getMethod("install", TableConfig.class)
                    .invoke(null, tables.getConfig());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Joins of SQL cannot be replaced.", e);
        }
    }
}
