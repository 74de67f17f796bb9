// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.loader;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.delegation.Planner;
import org.apache.flink.table.delegation.PlannerFactory;

/** Flink's planner, with joins replaced. Loaded as a service. */
public final class GpuJoinPlannerFactory implements PlannerFactory {

    @Override
    public String factoryIdentifier() {
        return DEFAULT_IDENTIFIER;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    @Override
    public Planner create(Context context) {
        PlannerLoader loader = PlannerLoader.get();
        loader.install(context.getTableConfig());
        return loader.plannerFactory().create(context);
    }
}
