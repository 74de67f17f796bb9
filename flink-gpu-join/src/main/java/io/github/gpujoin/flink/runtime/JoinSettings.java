// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.exchange.ring.RingOptions;
import io.github.gpujoin.flink.filter.FilterPlan;
import io.github.gpujoin.flink.metrics.JoinReporting;
import io.github.gpujoin.flink.runtime.eventtime.EventTimeJoin;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import io.github.gpujoin.flink.state.JoinColumns;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * Describes a join and how it runs. Serialized with the job.
 *
 * @param engines which engines may join, and how they divide the build side
 * @param partitions number of radix partitions, which equals the number of key groups
 * @param groupIntervalMs minimum time between two emissions of groups before watermarks, in ms; 0
 *     to emit before each watermark
 * @param rings transport of the edges between subtasks
 * @param reporting what each subtask logs and measures
 * @param eventTime event-time join with a versioned dimension; null if facts are joined in order of
 *     arrival
 * @param ttls times to live of rows
 * @param replicas dimensions that a {@link ReplicaOperator} before the join logs and replays
 * @param lateRows treatment of rows that arrive after their dimension is complete
 * @param columns columns of {@code spec} with their Flink types, which snapshots hold
 * @param filters dimensions whose keys filter the facts
 */
public record JoinSettings(
        JoinSpec spec,
        EngineSelection engines,
        int partitions,
        long groupIntervalMs,
        RingOptions rings,
        JoinReporting reporting,
        @Nullable EventTimeJoin eventTime,
        TimesToLive ttls,
        Replicas replicas,
        LateRowPolicy lateRows,
        JoinColumns columns,
        FilterPlan filters)
        implements Serializable {

    /**
     * Creates settings without filters of facts, whose columns have the Flink types that correspond
     * to their column types.
     */
    public JoinSettings(
            JoinSpec spec,
            EngineSelection engines,
            int partitions,
            long groupIntervalMs,
            RingOptions rings,
            JoinReporting reporting,
            @Nullable EventTimeJoin eventTime,
            TimesToLive ttls,
            Replicas replicas,
            LateRowPolicy lateRows) {
        this(
                spec,
                engines,
                partitions,
                groupIntervalMs,
                rings,
                reporting,
                eventTime,
                ttls,
                replicas,
                lateRows,
                JoinColumns.of(spec),
                FilterPlan.NONE);
    }

    /** Returns these settings with other replicas. */
    JoinSettings withReplicas(Replicas others) {
        return new JoinSettings(
                spec,
                engines,
                partitions,
                groupIntervalMs,
                rings,
                reporting,
                eventTime,
                ttls,
                others,
                lateRows,
                columns,
                filters);
    }
}
