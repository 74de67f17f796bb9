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
 * The filters of the joins of this process, by reference. A packer finds those of its join by a
 * result partition of its task: the partition's identifier contains the task's execution attempt,
 * so that nobody finds filters of an earlier attempt. Thread-safe.
 */
public final class PublishedFilters implements AutoCloseable {

    /**
     * Filters of a join.
     *
     * @param areAll whether no further ones will be published
     */
    record Published(List<DimensionFilter> filters, boolean areAll) {}

    /** A task that sends facts to a join. */
    private record Sender(String process, ResultPartitionID partition, String join) {}

    private static final Map<Sender, Published> PUBLISHED = new ConcurrentHashMap<>();

    private final List<Sender> senders;
    private Published published = new Published(List.of(), false);
    private boolean isClosed;

    /**
     * @param process TaskManager: several may share a JVM, but not the work on a job
     * @param join {@link FilterPlan#join}
     * @param senders result partitions of the tasks that send facts to the subtask
     */
    public PublishedFilters(String process, String join, Collection<ResultPartitionID> senders) {
        this.senders =
                senders.stream().map(partition -> new Sender(process, partition, join)).toList();
    }

    /**
     * Publishes further filters until {@link #close}.
     *
     * @param filters none if the dimensions have too many keys
     * @param areAll whether none will follow
     */
    public synchronized void publish(List<DimensionFilter> filters, boolean areAll) {
        if (!isClosed) {
            List<DimensionFilter> all = new ArrayList<>(published.filters());
            all.addAll(filters);
            published = new Published(List.copyOf(all), areAll);
            senders.forEach(sender -> PUBLISHED.put(sender, published));
        }
    }

    /**
     * Returns the filters of a join.
     *
     * @param process of the caller
     * @param join {@link FilterPlan#join}
     * @param partitions result partitions of the task that sends it facts
     * @return null as long as none are published
     */
    static @Nullable Published find(
            String process, String join, Collection<ResultPartitionID> partitions) {
        for (ResultPartitionID partition : partitions) {
            Published filters = PUBLISHED.get(new Sender(process, partition, join));
            if (filters != null) {
                return filters;
            }
        }
        return null;
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        for (Sender sender : senders) {
            PUBLISHED.computeIfPresent(
                    sender, (key, filters) -> filters == published ? null : filters);
        }
    }
}
