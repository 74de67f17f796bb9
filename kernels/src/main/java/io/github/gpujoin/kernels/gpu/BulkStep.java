// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import java.util.EnumMap;
import java.util.Map;

/**
 * Which results of two tables a step of a join returns.
 *
 * @param returnsPairs whether it returns or counts pairs
 * @param marks for each input whose matched rows are marked, which step of several it is
 */
record BulkStep(boolean returnsPairs, Map<JoinSide, Marks> marks) {

    /**
     * Marks of the same rows, by several tables of the other input.
     *
     * @param isFirst whether no row is marked before
     * @param isLast whether the marks are complete afterwards, so that rows are returned
     */
    record Marks(boolean isFirst, boolean isLast) {}

    /** Returns the only step of a join. */
    static BulkStep whole(BulkJoinKind kind) {
        Map<JoinSide, Marks> marks = new EnumMap<>(JoinSide.class);
        for (JoinSide side : JoinSide.values()) {
            if (needsMarks(kind, side)) {
                marks.put(side, new Marks(true, true));
            }
        }
        return new BulkStep(kind.returnsPairs(), marks);
    }

    /** Whether results depend on which rows of an input have a match. */
    static boolean needsMarks(BulkJoinKind kind, JoinSide side) {
        boolean isSemi = kind == BulkJoinKind.SEMI && side == JoinSide.LEFT;
        return isSemi || kind.keepsUnmatched(side);
    }
}
