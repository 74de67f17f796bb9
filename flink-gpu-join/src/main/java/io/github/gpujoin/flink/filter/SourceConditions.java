// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.flink.api.source.ColumnConditions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.metrics.scope.ScopeFormat;

/**
 * The conditions of a join for the source of its facts. The packer of the facts announces them; it
 * runs in the same task if Flink chains both. Otherwise the source knows no conditions.
 *
 * @param attempt execution attempt of the task
 * @param join {@link FilterPlan#join}
 */
public record SourceConditions(String attempt, String join) implements ColumnConditions {

    private static final long serialVersionUID = 1L;

    private static final Map<SourceConditions, Announcement> ANNOUNCED = new ConcurrentHashMap<>();

    private record Announcement(
            Supplier<List<ColumnCondition>> current, BooleanSupplier areExpected) {

        private static final Announcement NONE = new Announcement(List::of, () -> false);
    }

    /**
     * Returns the conditions for a source.
     *
     * @param metrics of an operator of the task
     */
    public static SourceConditions of(String join, MetricGroup metrics) {
        String attempt = metrics.getAllVariables().get(ScopeFormat.SCOPE_TASK_ATTEMPT_ID);
        return new SourceConditions(attempt == null ? "" : attempt, join);
    }

    /**
     * Announces the conditions until {@link #withdraw}.
     *
     * @param current supplies the conditions that are known now; thread-safe
     * @param areExpected tells whether more will be known soon; thread-safe
     */
    public void announce(Supplier<List<ColumnCondition>> current, BooleanSupplier areExpected) {
        if (!attempt.isEmpty()) {
            ANNOUNCED.put(this, new Announcement(current, areExpected));
        }
    }

    /** Ends the announcement, if there is one. */
    public void withdraw() {
        ANNOUNCED.remove(this);
    }

    @Override
    public List<ColumnCondition> current() {
        return announced().current().get();
    }

    @Override
    public boolean areExpected() {
        return announced().areExpected().getAsBoolean();
    }

    private Announcement announced() {
        return ANNOUNCED.getOrDefault(this, Announcement.NONE);
    }
}
