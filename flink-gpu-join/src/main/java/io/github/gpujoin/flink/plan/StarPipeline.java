// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/** A planned star join, whose operators are added to the job by one of the {@code to} methods. */
public interface StarPipeline {

    /**
     * Checks the description of a join, and plans it for the mode of its job.
     *
     * @param grouping null if the results are rows
     * @throws IllegalArgumentException if the description is incomplete or contradictory, or the
     *     mode does not support it
     */
    static StarPipeline of(
            JoinUid uid,
            JoinInput<?> facts,
            List<DimensionInput<?>> dimensions,
            @Nullable Grouping grouping,
            BadRecordStreams badRecords) {
        List<DataStream<?>> inputs = new ArrayList<>(List.of(facts.stream()));
        dimensions.forEach(dimension -> inputs.add(dimension.input().stream()));
        return BatchMode.isUsed(facts.stream().getExecutionEnvironment(), inputs)
                ? new BulkStarJoin(uid, facts, dimensions, grouping, badRecords)
                : new StarJoinPipeline(uid, facts, dimensions, grouping, badRecords);
    }

    /**
     * Adds the join, and returns partial groups. Each subtask emits partial groups repeatedly,
     * which the caller adds up.
     */
    SingleOutputStreamOperator<Row> toPartialGroups();

    /** Adds the join, and returns each group once, at the end of the facts. */
    SingleOutputStreamOperator<Row> toGroups();

    SingleOutputStreamOperator<Row> toRows();

    <T> SingleOutputStreamOperator<T> toRecords(TypeInformation<T> type);

    /**
     * @param keepsEncoding whether columns stay encoded where facts and results are encoded
     */
    SingleOutputStreamOperator<Chunk> toChunks(boolean keepsEncoding);

    /** Explains how the join will run, as far as that is known before it starts. */
    JoinExplanation explain();

    /** Returns the side output of late facts, whose event time is already joined. */
    OutputTag<Row> lateFacts();

    /**
     * Returns the side output of late versions, whose event time is already joined.
     *
     * @throws IllegalStateException if no dimension is versioned
     */
    OutputTag<Row> lateVersions();
}
