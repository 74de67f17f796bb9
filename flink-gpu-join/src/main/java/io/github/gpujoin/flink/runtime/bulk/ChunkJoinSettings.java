// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.flink.api.data.JoinedChunkWriter;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.options.MetricLevel;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import java.io.Serializable;

/**
 * Describes a join of chunks for its operator. Serialized with the job.
 *
 * @param spec of the join, which returns rows
 * @param threads of the join, and as many of the writer
 * @param plan explanation of the join
 */
public record ChunkJoinSettings(
        BulkJoinSpec spec,
        BulkJoinOpener joins,
        JoinedChunkWriter.Factory writers,
        int threads,
        MetricLevel metrics,
        JoinExplanation plan)
        implements Serializable {

    private static final long serialVersionUID = 1L;
}
