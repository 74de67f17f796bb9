// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import org.apache.flink.table.runtime.operators.join.FlinkJoinType;

/**
 * What a join of an unbounded side with a bounded one does.
 *
 * @param type INNER, LEFT, SEMI or ANTI; RIGHT if the left side is the dimension
 * @param isLeftDimension whether the left side is the bounded one; otherwise the right side is
 * @param isLookupTable whether the statement looks up rows of the dimension, which is read once
 *     instead
 */
public record StarJoinSpec(
        JoinKeys keys, FlinkJoinType type, boolean isLeftDimension, boolean isLookupTable) {

    /** Whether results have columns of the dimension. */
    boolean hasDimensionColumns() {
        return type != FlinkJoinType.SEMI && type != FlinkJoinType.ANTI;
    }
}
