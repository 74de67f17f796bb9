// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.jspecify.annotations.Nullable;

/**
 * The filters of the joins of this process. A packer finds those of its join by a result partition
 * of its task: the partition's identifier contains the task's execution attempt, so that nobody
 * finds filters of an earlier attempt. Thread-safe.
 */
public final class PublishedFilters implements AutoCloseable {

    /** A task that sends facts to a join. */
    private record Sender(ResultPartitionID partition, String join) {}

    private static final Map<Sender, List<DimensionFilter>> PUBLISHED = new ConcurrentHashMap<>();

    /** How many subtasks of a join are about to publish filters for a sender. */
    private static final Map<Sender, Integer> EXPECTED = new ConcurrentHashMap<>();

    private final List<Sender> senders;
    private List<DimensionFilter> published = List.of();
    private boolean isExpected;

    /**
     * @param join {@link FilterPlan#join}
     * @param senders result partitions of the tasks that send facts to the subtask
     */
    public PublishedFilters(String join, Collection<ResultPartitionID> senders) {
        this.senders = senders.stream().map(partition -> new Sender(partition, join)).toList();
    }

    /**
     * Announces that {@link #publish} will be called before {@link #close}, unless the task fails.
     */
    public void expect() {
        isExpected = true;
        senders.forEach(sender -> EXPECTED.merge(sender, 1, Integer::sum));
    }

    private void endExpectation() {
        if (isExpected) {
            isExpected = false;
            senders.forEach(
                    sender ->
                            EXPECTED.computeIfPresent(
                                    sender, (key, count) -> count == 1 ? null : count - 1));
        }
    }

    /**
     * Publishes the filters until {@link #close}. To be called once at most.
     *
     * @param filters none if the dimensions have too many keys
     */
    public void publish(List<DimensionFilter> filters) {
        // A list of its own, so that close removes what this subtask published.
        published = new ArrayList<>(filters);
        senders.forEach(sender -> PUBLISHED.put(sender, published));
        endExpectation();
    }

    /**
     * Returns the filters of a join.
     *
     * @param join {@link FilterPlan#join}
     * @param partitions result partitions of the task that sends it facts
     * @return null as long as none are published
     */
    public static @Nullable List<DimensionFilter> find(
            String join, Collection<ResultPartitionID> partitions) {
        for (ResultPartitionID partition : partitions) {
            List<DimensionFilter> filters = PUBLISHED.get(new Sender(partition, join));
            if (filters != null) {
                return filters;
            }
        }
        return null;
    }

    /**
     * Whether a subtask in this process is about to publish filters, and none has yet.
     *
     * @param join {@link FilterPlan#join}
     * @param partitions result partitions of the task that sends it facts
     */
    public static boolean areExpected(String join, Collection<ResultPartitionID> partitions) {
        return partitions.stream().anyMatch(p -> EXPECTED.containsKey(new Sender(p, join)))
                && find(join, partitions) == null;
    }

    @Override
    public void close() {
        endExpectation();
        for (Sender sender : senders) {
            PUBLISHED.computeIfPresent(
                    sender, (key, filters) -> filters == published ? null : filters);
        }
    }
}
