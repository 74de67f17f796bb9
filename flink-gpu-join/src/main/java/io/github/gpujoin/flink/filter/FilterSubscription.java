// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.filter.RowPruner.ColumnTest;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.jspecify.annotations.Nullable;

/** Awaits the filters of a join in a task that sends it facts. For the task's thread. */
public final class FilterSubscription {

    /** Facts between two looks for filters, each of which costs a few hash look-ups. */
    private static final int LOOK_ROWS = 16;

    /**
     * Within this time of this task, a subtask of the join starts in this process, if there is one.
     */
    private static final long JOIN_START_NS = 2_000_000_000;

    private final FilterPlan plan;
    private final List<ResultPartitionID> partitions;
    private final long createdNs = System.nanoTime();

    /** Whether a subtask of the join has announced or published filters. */
    private volatile boolean hasMetJoin;

    private @Nullable RowPruner pruner;
    private int rowsToLook;

    public FilterSubscription(FilterPlan plan, Environment task) {
        this.plan = plan;
        this.partitions =
                Arrays.stream(task.getAllWriters())
                        .map(ResultPartitionWriter::getPartitionId)
                        .toList();
    }

    private List<DimensionFilter> published() {
        List<DimensionFilter> filters = PublishedFilters.find(plan.join(), partitions);
        return filters == null ? List.of() : filters;
    }

    /**
     * Announces all conditions to the source of the facts in this task.
     *
     * @param columns name of each packed column in the source
     * @param metrics of the task's operator
     * @return the announcement, which the caller withdraws
     */
    public SourceConditions announce(IntFunction<String> columns, MetricGroup metrics) {
        SourceConditions announcement = SourceConditions.of(plan.join(), metrics);
        if (!plan.isEmpty()) {
            announcement.announce(new Conditions(columns), this::areExpected);
        }
        return announcement;
    }

    /** For the thread that reads the facts. */
    private boolean areExpected() {
        if (plan.dimensions().isEmpty()) {
            return false;
        }
        boolean isExpected = PublishedFilters.areExpected(plan.join(), partitions);
        hasMetJoin |= isExpected || PublishedFilters.find(plan.join(), partitions) != null;
        return hasMetJoin ? isExpected : System.nanoTime() - createdNs < JOIN_START_NS;
    }

    /** Conditions of the user, and those of dimensions once they are published. Thread-safe. */
    private final class Conditions implements Supplier<List<ColumnCondition>> {

        private final IntFunction<String> columns;
        private volatile @Nullable List<ColumnCondition> all;

        Conditions(IntFunction<String> columns) {
            this.columns = columns;
        }

        @Override
        public List<ColumnCondition> get() {
            if (all == null) {
                List<DimensionFilter> filters = published();
                if (filters.isEmpty()) {
                    return plan.conditions();
                }
                List<ColumnCondition> known = new ArrayList<>(plan.conditions());
                for (DimensionFilter filter : filters) {
                    known.add(
                            new ColumnCondition(columns.apply(filter.factColumn()), filter.keys()));
                }
                all = List.copyOf(known);
            }
            return all;
        }
    }

    /**
     * Returns the pruner of facts, or null if it would test none of the next ones: before the join
     * publishes filters, if the dimensions have too many keys, and while all filters are suspended.
     *
     * @param rowCount number of the next facts, all of which pass if there is no pruner
     * @param maxKeptShare a filter that keeps more than this share of the rows is suspended
     */
    public @Nullable RowPruner pruner(int rowCount, double maxKeptShare) {
        if (pruner == null) {
            look(rowCount, maxKeptShare);
        }
        if (pruner == null || pruner.isActive()) {
            return pruner;
        }
        pruner.skip(rowCount);
        return null;
    }

    private void look(int rowCount, double maxKeptShare) {
        if (plan.dimensions().isEmpty()) {
            return;
        }
        rowsToLook -= rowCount;
        if (rowsToLook > 0) {
            return;
        }
        rowsToLook = LOOK_ROWS;
        List<DimensionFilter> filters = published();
        if (!filters.isEmpty()) {
            pruner =
                    new RowPruner(
                            filters.stream()
                                    .map(f -> new ColumnTest(f.factColumn(), f.keys()))
                                    .toList(),
                            maxKeptShare);
        }
    }
}
