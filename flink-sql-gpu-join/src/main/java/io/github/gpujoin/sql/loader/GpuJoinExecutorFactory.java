// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.loader;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.delegation.Executor;
import org.apache.flink.table.delegation.StreamExecutorFactory;

/** Flink's executor, from the loader of its planner. Loaded as a service. */
public final class GpuJoinExecutorFactory implements StreamExecutorFactory {

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
    public Executor create(Configuration configuration) {
        return PlannerLoader.get().executorFactory().create(configuration);
    }

    @Override
    public Executor create(StreamExecutionEnvironment env) {
        return PlannerLoader.get().executorFactory().create(env);
    }
}
