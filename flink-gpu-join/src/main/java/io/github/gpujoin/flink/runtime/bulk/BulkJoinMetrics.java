// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkJoinState;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.options.MetricLevel;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import io.github.gpujoin.flink.metrics.JoinMetrics;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.apache.flink.metrics.MetricGroup;

/**
 * Counts and registers metrics of a bulk join, whose left input is the probe side. The task's
 * thread counts while a reporter's thread reads.
 */
final class BulkJoinMetrics {

    private final Map<JoinSide, LongAdder> rows = new EnumMap<>(JoinSide.class);
    private final LongAdder buildBytes = new LongAdder();
    private final LongAdder nullKeyRows = new LongAdder();

    BulkJoinMetrics(
            MetricGroup operatorGroup,
            MetricLevel level,
            BulkJoinSpec spec,
            BulkJoinOpener.Opened opened) {
        for (JoinSide side : JoinSide.values()) {
            rows.put(side, new LongAdder());
        }
        MetricGroup metrics = operatorGroup.addGroup(JoinMetrics.GROUP);
        BulkJoin join = opened.join();
        metrics.gauge("engine", opened::name);
        metrics.gauge("algorithm", () -> algorithm(join));
        metrics.gauge("buildRows", rows.get(JoinSide.RIGHT)::sum);
        metrics.gauge("probeRows", rows.get(JoinSide.LEFT)::sum);
        metrics.gauge("resultRows", () -> join.stats().resultRows() + nullKeyRows.sum());
        metrics.gauge("joinBytes", () -> join.stats().memoryBytes());
        metrics.gauge("spilledBytes", () -> join.stats().spilledBytes());
        if (opened.refusal() != null) {
            metrics.addGroup("reason", opened.refusal().name()).counter("fallbacks").inc();
        }
        if (level == MetricLevel.ALL) {
            MetricGroup build = metrics.addGroup("dimension", spec.right().name());
            build.gauge("rows", rows.get(JoinSide.RIGHT)::sum);
            build.gauge("bytes", buildBytes::sum);
        }
    }

    /** Returns the algorithm, or an empty text while the join is loading and after it is closed. */
    private static String algorithm(BulkJoin join) {
        BulkJoinState state = join.state();
        boolean isChosen = state == BulkJoinState.JOINING || state == BulkJoinState.DONE;
        return isChosen ? join.plan().algorithm().label() : "";
    }

    /** Counts the rows of a chunk that the subtask received. */
    void received(JoinSide side, Chunk chunk) {
        rows.get(side).add(chunk.rowCount());
        if (side == JoinSide.RIGHT) {
            buildBytes.add(chunk.lengthBytes());
        }
    }

    /** Counts results of rows that bypass the join because their keys are null. */
    void emittedNullKeys(int count) {
        nullKeyRows.add(count);
    }
}
