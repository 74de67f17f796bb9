// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.options.MetricLevel;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import io.github.gpujoin.flink.record.RecordLayout;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * Describes a join for its operator. Serialized with the job.
 *
 * @param spec of the emitters: facts are the probe side, the only dimension is the build side
 * @param bulk the same join, whose left input is the probe side
 * @param nullKeyBits bits of {@link RecordLayout#NULL_KEYS} in probe rows that match nothing
 * @param plan explanation of the whole join; null in a stage before the last
 */
public record BulkJoinSettings(
        JoinSpec spec,
        BulkJoinSpec bulk,
        int nullKeyBits,
        BulkJoinOpener joins,
        MetricLevel metrics,
        @Nullable JoinExplanation plan)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    private static final int NONE = -1;

    /** Build rows are numbered from 0, and a row with a null key has the number -1. */
    private static final long ALL_BITS = -1;

    /**
     * Returns the rows of a side that match nothing because their key is null.
     *
     * <p>A packer drops such rows unless the join keeps rows of the side without a match.
     */
    NullKeyRows nullKeyRows(JoinSide side) {
        boolean isProbe = side == JoinSide.LEFT;
        String column = isProbe ? RecordLayout.NULL_KEYS : RecordLayout.NUMBER;
        int index =
                bulk.kind().keepsUnmatched(side) ? bulk.input(side).schema().indexOf(column) : NONE;
        return new NullKeyRows(bulk.input(side).schema(), index, isProbe ? nullKeyBits : ALL_BITS);
    }
}
