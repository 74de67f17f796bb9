// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import java.time.Duration;
import org.apache.flink.table.runtime.operators.join.FlinkJoinType;

/**
 * What a temporal join does.
 *
 * @param type INNER or LEFT
 * @param leftTime time attribute of the left side
 * @param rightTime rowtime column of the right side, or {@link #PROCESSING_TIME}
 * @param timeToLive of rows of the right side in processing time; zero for no limit
 */
public record TemporalJoinSpec(
        JoinKeys keys, FlinkJoinType type, int leftTime, int rightTime, Duration timeToLive) {

    /** The right side's time in a join by processing time. */
    public static final int PROCESSING_TIME = -1;

    boolean isByProcessingTime() {
        return rightTime == PROCESSING_TIME;
    }
}
