// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.filter.RowPruner.ColumnTest;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.flink.filter.FilterRequest.Ask;
import io.github.gpujoin.flink.filter.PublishedFilters.Published;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Awaits the filters of a join in a task that sends it facts: by reference from subtasks of the
 * join in the same process, and those of other processes through the {@link FilterCoordinator}.
 *
 * <p>For the task's thread, except where noted. Answers of the coordinator arrive in other threads.
 */
public final class FilterSubscription implements AutoCloseable {

    /** Facts between two looks for filters, each of which costs a few hash look-ups. */
    private static final int LOOK_ROWS = 16;

    private final FilterPlan plan;
    private final FilterTask task;
    private final List<ResultPartitionID> partitions;
    private final FilterClient client;

    /** Guarded by itself. */
    private final List<FetchedFilters> fetches = new ArrayList<>();

    private boolean isClosed;

    /** Filters of other processes; null as long as there may be some. */
    private volatile @Nullable List<DimensionFilter> fetched;

    /** All filters, once none will follow. */
    private volatile @Nullable List<DimensionFilter> settled;

    private List<DimensionFilter> applied = List.of();
    private @Nullable RowPruner pruner;
    private int rowsToLook;

    /** Asks for the filters of a plan. */
    public FilterSubscription(FilterPlan plan, Environment task) {
        this(
                plan,
                FilterTask.of(task),
                Arrays.stream(task.getAllWriters())
                        .map(ResultPartitionWriter::getPartitionId)
                        .toList());
    }

    FilterSubscription(FilterPlan plan, FilterTask task, List<ResultPartitionID> partitions) {
        this.plan = plan;
        this.task = task;
        this.partitions = partitions;
        this.client = newClient();
        if (plan.dimensions().isEmpty()) {
            settled = List.of();
        } else {
            client.send(new Ask(task.attempt(), task.process())).thenAccept(this::fetch);
        }
    }

    private FilterClient newClient() {
        return new FilterClient(task.gateway(), plan.operator());
    }

    /** Fetches the filters that the coordinator lists. */
    private void fetch(FilterResponse listed) {
        synchronized (fetches) {
            if (isClosed) {
                return;
            }
            for (int dimension : FilterRequest.dimensions(listed.dimensions())) {
                fetches.add(
                        FetchedFilters.of(
                                task.process(), listed.generation(), dimension, this::newClient));
            }
        }
        fetchNext(FilterRequest.dimensions(listed.dimensions()), 0, List.of());
    }

    private void fetchNext(List<Integer> dimensions, int index, List<DimensionFilter> filters) {
        if (index == dimensions.size()) {
            fetched = filters;
            return;
        }
        fetches.get(index)
                .filter()
                .whenComplete(
                        (keys, failure) -> {
                            List<DimensionFilter> more = new ArrayList<>(filters);
                            if (failure == null && keys.isPresent()) {
                                FilteringDimension of = dimension(dimensions.get(index));
                                more.add(new DimensionFilter(of, keys.get()));
                            }
                            fetchNext(dimensions, index + 1, List.copyOf(more));
                        });
    }

    private FilteringDimension dimension(int number) {
        return plan.dimensions().stream()
                .filter(dimension -> dimension.number() == number)
                .findFirst()
                .orElseThrow();
    }

    /** Returns the filters that are known now. For any thread. */
    List<DimensionFilter> known() {
        List<DimensionFilter> all = settled;
        if (all != null) {
            return all;
        }
        // In this order: before the coordinator answers, all of this process are published.
        List<DimensionFilter> remote = fetched;
        Published local = PublishedFilters.find(task.process(), plan.join(), partitions);
        List<DimensionFilter> known = new ArrayList<>();
        if (local != null) {
            known.addAll(local.filters());
        }
        if (remote != null) {
            known.addAll(remote);
        }
        if (remote != null || local != null && local.areAll()) {
            settled = List.copyOf(known);
        }
        return known;
    }

    /** Registers sizes of the filters in the metrics of the task's operator. */
    public void register(MetricGroup metrics) {
        metrics.gauge("filterBytes", () -> bytes(known()));
        metrics.gauge("fetchedFilterBytes", () -> fetched == null ? 0L : bytes(fetched));
        metrics.gauge("filteringDimensions", () -> known().size());
    }

    private static long bytes(List<DimensionFilter> filters) {
        return filters.stream().mapToLong(filter -> filter.keys().lengthBytes()).sum();
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

    /**
     * Whether filters may still arrive: a task runs at the same time as the join, which publishes
     * filters or none once its dimensions are complete. For any thread.
     */
    boolean areExpected() {
        if (settled == null) {
            known();
        }
        return settled == null;
    }

    /** Conditions of the user, and those of dimensions once they are known. Thread-safe. */
    private final class Conditions implements Supplier<List<ColumnCondition>> {

        private final IntFunction<String> columns;
        private List<DimensionFilter> filters = List.of();
        private List<ColumnCondition> all = plan.conditions();

        Conditions(IntFunction<String> columns) {
            this.columns = columns;
        }

        @Override
        public synchronized List<ColumnCondition> get() {
            List<DimensionFilter> known = known();
            if (known.size() > filters.size()) {
                filters = known;
                List<ColumnCondition> conditions = new ArrayList<>(plan.conditions());
                for (DimensionFilter filter : known) {
                    conditions.add(
                            new ColumnCondition(columns.apply(filter.factColumn()), filter.keys()));
                }
                all = List.copyOf(conditions);
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
        if (applied != settled) {
            look(rowCount, maxKeptShare);
        }
        if (pruner == null || pruner.isActive()) {
            return pruner;
        }
        pruner.skip(rowCount);
        return null;
    }

    private void look(int rowCount, double maxKeptShare) {
        rowsToLook -= rowCount;
        if (rowsToLook > 0) {
            return;
        }
        rowsToLook = LOOK_ROWS;
        List<DimensionFilter> filters = known();
        if (filters.size() > applied.size()) {
            pruner =
                    new RowPruner(
                            filters.stream()
                                    .map(f -> new ColumnTest(f.factColumn(), f.keys()))
                                    .toList(),
                            maxKeptShare);
        }
        applied = settled == null ? filters : settled;
    }

    @Override
    public void close() {
        client.close();
        synchronized (fetches) {
            isClosed = true;
            IOUtils.closeAllQuietly(fetches);
        }
    }
}
