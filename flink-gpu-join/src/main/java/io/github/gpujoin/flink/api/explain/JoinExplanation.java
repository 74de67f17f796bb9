// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.annotation.PublicEvolving;

/**
 * How a join runs and why: the plan before the run, or what a subtask found once its tables are
 * complete. {@link #toString()} is a text for people, like that of Flink's own {@code explain}, and
 * may change.
 *
 * @param join prefix of the uids of its operators
 * @param stage {@code planned}, or the subtask that reports
 * @param transport how chunks of partitioned sides travel
 * @param chunks whether a chunk of a partitioned side holds rows of one partition, or of all
 *     partitions of a subtask
 * @param unalignedCheckpoints whether unaligned checkpoints include the edges into the join, or the
 *     reason why not
 * @param textGroups text group columns, {@code dimension.column}, which the engines add up by codes
 * @param sourceConditions predicates of columns that the source of the facts receives if Flink
 *     chains it to the packer, each with the ranges of values that pass
 * @param partitionRows of the build rows; {@link PartitionSummary#NONE} before the run
 * @param gpuWeight the join's {@code gpu-join.gpu.weight}; shown if a GPU joins or may join
 */
@PublicEvolving
public record JoinExplanation(
        String join,
        String stage,
        String transport,
        ReasonCode chunks,
        ReasonCode unalignedCheckpoints,
        List<DimensionExplanation> dimensions,
        List<String> textGroups,
        List<String> sourceConditions,
        PartitionSummary partitionRows,
        double gpuWeight)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    private static final String PLANNED = "planned";

    /** For {@link #partitionedDimension()}. */
    public static final int NONE = -1;

    /**
     * Copies the lists.
     *
     * @param join prefix of the uids of its operators
     * @param stage {@code planned}, or the subtask that reports
     * @param transport how chunks of partitioned sides travel
     * @param chunks whether a chunk of a partitioned side holds rows of one partition, or of all
     *     partitions of a subtask
     * @param unalignedCheckpoints whether unaligned checkpoints include the edges into the join, or
     *     the reason why not
     * @param dimensions in their order
     * @param textGroups text group columns, {@code dimension.column}, which the engines add up by
     *     codes
     * @param sourceConditions predicates of columns that the source of the facts receives if Flink
     *     chains it to the packer, each with the ranges of values that pass
     * @param partitionRows of the build rows; {@link PartitionSummary#NONE} before the run
     * @param gpuWeight the join's {@code gpu-join.gpu.weight}; shown if a GPU joins or may join
     */
    public JoinExplanation {
        dimensions = List.copyOf(dimensions);
        textGroups = List.copyOf(textGroups);
        sourceConditions = List.copyOf(sourceConditions);
    }

    /**
     * The part of the plan that is fixed before the run.
     *
     * @param join prefix of the uids of its operators
     * @param transport transport of chunks between subtasks
     * @param unalignedCheckpoints whether the edges into the join take part in unaligned
     *     checkpoints, and why
     * @param dimensions explanations of the dimensions
     * @param gpuWeight the join's {@code gpu-join.gpu.weight}
     * @return the explanation
     */
    public static JoinExplanation planned(
            String join,
            String transport,
            ReasonCode unalignedCheckpoints,
            List<DimensionExplanation> dimensions,
            double gpuWeight) {
        return new JoinExplanation(
                join,
                PLANNED,
                transport,
                ReasonCode.FEW_KEY_GROUPS,
                unalignedCheckpoints,
                dimensions,
                List.of(),
                List.of(),
                PartitionSummary.NONE,
                gpuWeight);
    }

    /**
     * The same join with other chunks of partitioned sides.
     *
     * @param why the reason
     * @return the explanation
     */
    public JoinExplanation withChunks(ReasonCode why) {
        return new JoinExplanation(
                join,
                stage,
                transport,
                why,
                unalignedCheckpoints,
                dimensions,
                textGroups,
                sourceConditions,
                partitionRows,
                gpuWeight);
    }

    /**
     * The same join with text group columns.
     *
     * @param columns text group columns, {@code dimension.column}
     * @return the explanation
     */
    public JoinExplanation withTextGroups(List<String> columns) {
        return new JoinExplanation(
                join,
                stage,
                transport,
                chunks,
                unalignedCheckpoints,
                dimensions,
                columns,
                sourceConditions,
                partitionRows,
                gpuWeight);
    }

    /**
     * The same join, whose source of facts receives predicates of columns.
     *
     * @param conditions each with the ranges of values that pass
     * @return the explanation
     */
    public JoinExplanation withSourceConditions(List<String> conditions) {
        return new JoinExplanation(
                join,
                stage,
                transport,
                chunks,
                unalignedCheckpoints,
                dimensions,
                textGroups,
                conditions,
                partitionRows,
                gpuWeight);
    }

    /**
     * The same join, whose measured dimension is distributed so.
     *
     * @param dimension its number
     * @param distribution of its rows
     * @return the explanation
     */
    public JoinExplanation measured(int dimension, Distribution distribution) {
        List<DimensionExplanation> updated = new ArrayList<>(dimensions);
        ReasonCode why =
                distribution == Distribution.PARTITIONED
                        ? ReasonCode.MEASURED_OVER_LIMIT
                        : ReasonCode.MEASURED_WITHIN_LIMIT;
        updated.set(dimension, updated.get(dimension).distributed(distribution, why));
        return new JoinExplanation(
                join,
                stage,
                transport,
                chunks,
                unalignedCheckpoints,
                updated,
                textGroups,
                sourceConditions,
                partitionRows,
                gpuWeight);
    }

    /**
     * The same join as a subtask runs it.
     *
     * @param subtask name of the subtask
     * @param joined explanations of the dimensions at run time
     * @param rows build rows by partition
     * @return the explanation
     */
    public JoinExplanation running(
            String subtask, List<DimensionExplanation> joined, PartitionSummary rows) {
        return new JoinExplanation(
                join,
                "as it runs in " + subtask,
                transport,
                chunks,
                unalignedCheckpoints,
                joined,
                textGroups,
                sourceConditions,
                rows,
                gpuWeight);
    }

    /**
     * Number of the dimension by whose key facts are sent, or {@link #NONE}.
     *
     * @return the number
     */
    public int partitionedDimension() {
        return IntStream.range(0, dimensions.size())
                .filter(d -> dimensions.get(d).distribution() == Distribution.PARTITIONED)
                .findFirst()
                .orElse(NONE);
    }

    /**
     * Which dimensions filter the facts, or why not, in one line. Descriptions of operators in
     * Flink's Web UI contain it.
     *
     * @return each dimension with its reason code; none in batch mode
     */
    public String filtersOfFacts() {
        boolean isBatch =
                !dimensions.isEmpty()
                        && dimensions.stream().allMatch(d -> d.filter() == ReasonCode.BATCH_MODE);
        if (isBatch) {
            return "filters of facts: none (" + ReasonCode.BATCH_MODE + ")";
        }
        return dimensions.stream()
                .map(dimension -> dimension.name() + " (" + dimension.filter() + ")")
                .collect(Collectors.joining(", ", "filters of facts: ", ""));
    }

    /** A table with a line for each class of partitions, and a legend of its reason codes. */
    @Override
    public String toString() {
        return new ExplanationText(this).toString();
    }
}
