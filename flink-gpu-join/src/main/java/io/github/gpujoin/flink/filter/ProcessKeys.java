// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.KeyFilterBuilder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of all subtasks of a join in one process. They are merged here, so that the process
 * sends them once. Each {@link FilterGeneration} has its own, since subtasks of an earlier attempt
 * may end after those of the next one have started. Thread-safe.
 */
final class ProcessKeys {

    private static final Logger LOG = LoggerFactory.getLogger(ProcessKeys.class);

    /**
     * Keys of complete dimensions, by number.
     *
     * @param whole of dimensions of which the subtask has all rows
     * @param parts of dimensions of which it has its partitions
     */
    record Keys(Map<Integer, KeyFilterBuilder> whole, Map<Integer, KeyFilterBuilder> parts) {

        static final Keys NONE = new Keys(Map.of(), Map.of());

        static Map<Integer, Long> bytes(Map<Integer, KeyFilterBuilder> keys) {
            Map<Integer, Long> bytes = new HashMap<>();
            keys.forEach((dimension, builder) -> bytes.put(dimension, builder.lengthBytes()));
            return bytes;
        }
    }

    private record Id(String process, String generation) {}

    /** Until the last subtask has added its keys, or a subtask fails. */
    private static final Map<Id, ProcessKeys> ALL = new ConcurrentHashMap<>();

    private final Id id;
    private final FilterPlan plan;

    private final Set<ExecutionAttemptID> contributors = new HashSet<>();
    private final List<PublishedFilters> outputs = new ArrayList<>();
    private @Nullable Keys keys;
    private boolean isConfirmed;

    private ProcessKeys(Id id, FilterPlan plan) {
        this.id = id;
        this.plan = plan;
    }

    /** Returns the keys of a process, to which a subtask adds its own. */
    static ProcessKeys of(String process, String generation, FilterPlan plan) {
        return ALL.computeIfAbsent(new Id(process, generation), id -> new ProcessKeys(id, plan));
    }

    /** Drops the keys of a process: if a subtask fails, all of the generation are restarted. */
    static void drop(String process, String generation) {
        ALL.remove(new Id(process, generation));
    }

    /** Returns the number of generations in a process that lack keys of a subtask. For tests. */
    static long incomplete(String process) {
        return ALL.keySet().stream().filter(id -> id.process().equals(process)).count();
    }

    /** Returns whether the caller is the first, and so the one that confirms for the process. */
    synchronized boolean startConfirming() {
        boolean isFirst = !isConfirmed;
        isConfirmed = true;
        return isFirst;
    }

    /** Whether keys of a subtask are missing, and none has failed. */
    boolean areAwaited() {
        return ALL.get(id) == this;
    }

    /**
     * Adds the keys of a subtask, once. If they cannot be merged, the process has no keys.
     *
     * @param announced with the number of subtasks
     * @param output to which the union of partitioned dimensions is published, if all subtasks are
     *     in this process
     * @return the keys of the process with those of its last subtask, otherwise null
     */
    synchronized @Nullable Keys add(
            ExecutionAttemptID subtask,
            FilterResponse announced,
            Keys added,
            PublishedFilters output) {
        if (!contributors.add(subtask)) {
            return null;
        }
        try {
            outputs.add(output);
            keys = keys == null ? copy(added) : merged(keys, added);
        } catch (Throwable e) {
            // A union that lacks keys would drop facts that have results.
            keys = Keys.NONE;
            LOG.warn("Cannot merge the keys of dimensions, so that they do not filter facts.", e);
        }
        if (contributors.size() < announced.processSubtasks()) {
            return null;
        }
        ALL.remove(id, this);
        Keys complete = keys;
        keys = null;
        if (contributors.size() == announced.subtasks() && !complete.parts().isEmpty()) {
            List<DimensionFilter> union = DimensionFilter.of(plan, complete.parts());
            outputs.forEach(each -> each.publish(union, true));
        }
        outputs.clear();
        return complete;
    }

    /** The same whole dimensions, and partitioned ones to merge into. */
    private static Keys copy(Keys keys) {
        return new Keys(keys.whole(), new TreeMap<>(keys.parts()));
    }

    /** Merges partitioned dimensions of which both have a part. */
    private static Keys merged(Keys into, Keys added) {
        if (into == Keys.NONE) {
            return into;
        }
        into.parts().keySet().retainAll(added.parts().keySet());
        into.parts().forEach((dimension, part) -> part.addAll(added.parts().get(dimension)));
        Map<Integer, KeyFilterBuilder> whole = new TreeMap<>(into.whole());
        whole.keySet().retainAll(added.whole().keySet());
        return new Keys(whole, into.parts());
    }
}
