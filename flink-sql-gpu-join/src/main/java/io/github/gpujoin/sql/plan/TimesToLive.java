// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import java.util.Map;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.planner.hint.StateTtlHint;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalJoin;
import org.apache.flink.table.planner.utils.ShortcutUtils;

/** Times to live of the rows of a join's inputs, in ms; 0 for no limit. */
final class TimesToLive {

    private TimesToLive() {}

    /**
     * Returns the time to live of a side of a regular join.
     *
     * @param side 0 for the left one, 1 for the right one
     */
    static long ofSideMs(StreamPhysicalJoin join, int side) {
        return hintedMs(StateTtlHint.getStateTtlFromHintOnBiRel(join.getHints()), side, join);
    }

    /** Returns the time to live that a hint sets for an input, or else that of the statement. */
    static long hintedMs(Map<Integer, Long> hinted, int input, RelNode join) {
        Long timeToLiveMs = hinted.get(input);
        return timeToLiveMs != null
                ? timeToLiveMs
                : ShortcutUtils.unwrapTableConfig(join)
                        .get(ExecutionConfigOptions.IDLE_STATE_RETENTION)
                        .toMillis();
    }
}
