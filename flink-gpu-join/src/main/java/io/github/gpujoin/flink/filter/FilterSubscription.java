// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.KeyFilter;
import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.filter.RowPruner.ColumnTest;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.flink.filter.FilterRequest.Ask;
import io.github.gpujoin.flink.filter.PublishedFilters.Published;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Awaits the filters of a join in a task that sends it facts: by reference from subtasks of the
 * join in the same process, and those of other processes through the {@link FilterCoordinator}.
 *
 * <p>For the task's thread, except where noted. Answers of the coordinator arrive in other threads.
 */
public final class FilterSubscription implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(FilterSubscription.class);

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
    private long appliedMaxBytes;
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
            client.send(new Ask(task.attempt(), task.process()))
                    .thenCompose(this::fetch)
                    .exceptionally(FilterSubscription::none)
                    .thenAccept(filters -> fetched = filters);
        }
    }

    private FilterClient newClient() {
        return new FilterClient(task, plan.operator());
    }

    /** Fetches the filters that the coordinator lists. */
    private CompletableFuture<List<DimensionFilter>> fetch(FilterResponse listed) {
        CompletableFuture<List<DimensionFilter>> all = CompletableFuture.completedFuture(List.of());
        synchronized (fetches) {
            if (isClosed) {
                return all;
            }
            for (int number : FilterRequest.dimensions(listed.dimensions())) {
                FilteringDimension dimension = dimension(number);
                FetchedFilters of =
                        FetchedFilters.of(
                                task.process(), listed.generation(), number, this::newClient);
                fetches.add(of);
                all = all.thenCombine(of.filter(), (some, keys) -> with(some, dimension, keys));
            }
        }
        return all;
    }

    private static List<DimensionFilter> with(
            List<DimensionFilter> filters, FilteringDimension dimension, Optional<KeyFilter> keys) {
        List<DimensionFilter> more = new ArrayList<>(filters);
        keys.ifPresent(filter -> more.add(new DimensionFilter(dimension, filter)));
        return List.copyOf(more);
    }

    /** Sources should not wait for what has failed. */
    private static List<DimensionFilter> none(Throwable failure) {
        LOG.warn(
                "Cannot fetch filters of other TaskManagers, so that they filter no facts.",
                failure);
        return List.of();
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
     * Whether a source should wait for filters: a task runs at the same time as the join, which
     * publishes filters or none once its dimensions are complete. It waits as long as the
     * coordinator answers that they are not, however long the load takes, but at most {@value
     * FilterClient#SILENCE_MS} ms for an answer: a late filter costs speed only, and is used when
     * it arrives. For any thread.
     */
    boolean areExpected() {
        if (settled == null) {
            known();
        }
        return settled == null && !client.isSilent();
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
     * @param maxBytes of a filter that is tested
     */
    public @Nullable RowPruner pruner(int rowCount, double maxKeptShare, long maxBytes) {
        if (applied != settled || appliedMaxBytes != maxBytes) {
            look(rowCount, maxKeptShare, maxBytes);
        }
        if (pruner == null || pruner.isActive()) {
            return pruner;
        }
        pruner.skip(rowCount);
        return null;
    }

    private void look(int rowCount, double maxKeptShare, long maxBytes) {
        rowsToLook -= rowCount;
        if (rowsToLook > 0) {
            return;
        }
        rowsToLook = LOOK_ROWS;
        List<DimensionFilter> filters = known();
        if (filters.size() > applied.size() || appliedMaxBytes != maxBytes) {
            pruner =
                    new RowPruner(
                            filters.stream()
                                    .filter(f -> f.keys().lengthBytes() <= maxBytes)
                                    .map(f -> new ColumnTest(f.factColumn(), f.keys()))
                                    .toList(),
                            maxKeptShare);
        }
        appliedMaxBytes = maxBytes;
        // Not settled: it may be a longer list by now, which the pruner does not test.
        applied = filters;
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
