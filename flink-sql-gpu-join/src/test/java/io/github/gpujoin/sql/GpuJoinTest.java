// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.sql.plan.GpuJoinCalciteConfig;
import java.net.URL;
import java.net.URLClassLoader;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.PlannerConfig;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.TableEnvironment;
import org.junit.jupiter.api.Test;

class GpuJoinTest {

    /** As the jar for {@code lib/} loads the module: next to the planner, not with the program. */
    private static final class PlannerClassLoader extends URLClassLoader {

        PlannerClassLoader() {
            super(
                    new URL[] {GpuJoin.class.getProtectionDomain().getCodeSource().getLocation()},
                    GpuJoin.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("io.github.gpujoin.sql.")) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? findClass(name) : loaded;
        }
    }

    @Test
    void shouldKeepWhatTheJarForLibInstalled() throws Exception {
        TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        try (PlannerClassLoader planner = new PlannerClassLoader()) {
            planner.loadClass(GpuJoinCalciteConfig.class.getName())
                    .getMethod("install", TableConfig.class)
                    .invoke(null, tables.getConfig());
            PlannerConfig installed = tables.getConfig().getPlannerConfig();

            GpuJoin.enable(tables);

            assertThat(tables.getConfig().getPlannerConfig())
                    .isSameAs(installed)
                    .isNotInstanceOf(GpuJoinCalciteConfig.class);
        }
    }
}
