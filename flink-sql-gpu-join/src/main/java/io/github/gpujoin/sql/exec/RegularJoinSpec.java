// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import io.github.gpujoin.core.symmetric.RowIdentity;
import java.util.List;
import org.apache.flink.table.planner.plan.nodes.exec.spec.JoinSpec;

/**
 * What a regular join does.
 *
 * @param join keys, kind, and the condition besides the keys
 */
public record RegularJoinSpec(JoinSpec join, Input left, Input right) {

    /**
     * One side.
     *
     * @param identity which earlier row a change refers to
     * @param identityColumns columns of a unique key, for {@link RowIdentity#UNIQUE_COLUMNS};
     *     otherwise empty
     * @param timeToLiveMs time to live of rows in state; 0 for no limit
     */
    public record Input(RowIdentity identity, List<Integer> identityColumns, long timeToLiveMs) {}
}
