// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import java.io.Serializable;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * How a dimension is joined.
 *
 * @param kind of join, in the terms of the API
 * @param why reason of the distribution
 * @param filter whether its keys filter the facts: {@link ReasonCode#FILTERS}, or why not
 * @param expectedBytes size of its rows that the job states; {@link PartitionClass#UNKNOWN} if none
 * @param rows rows that arrived; {@link PartitionClass#UNKNOWN} before the run
 * @param classes of its partitions, at least one
 */
@PublicEvolving
public record DimensionExplanation(
        String name,
        String kind,
        Distribution distribution,
        ReasonCode why,
        ReasonCode filter,
        long expectedBytes,
        long rows,
        List<PartitionClass> classes)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /**
     * Copies the list.
     *
     * @param name of the dimension
     * @param kind of join, as the user knows it
     * @param distribution of its rows
     * @param why it is distributed so
     * @param filter whether its keys filter the facts: {@link ReasonCode#FILTERS}, or why not
     * @param expectedBytes of its rows, as the job says; {@link PartitionClass#UNKNOWN} if it does
     *     not
     * @param rows that came; {@link PartitionClass#UNKNOWN} before the run
     * @param classes of its partitions, at least one
     */
    public DimensionExplanation {
        classes = List.copyOf(classes);
    }

    /**
     * As it is known before the run.
     *
     * @param name of the dimension
     * @param kind of join
     * @param distribution of its rows
     * @param why the reason
     * @param filter whether its keys filter the facts: {@link ReasonCode#FILTERS}, or why not
     * @param expectedBytes expected size in bytes
     * @return the explanation
     */
    public static DimensionExplanation planned(
            String name,
            String kind,
            Distribution distribution,
            ReasonCode why,
            ReasonCode filter,
            long expectedBytes) {
        return new DimensionExplanation(
                name,
                kind,
                distribution,
                why,
                filter,
                expectedBytes,
                PartitionClass.UNKNOWN,
                List.of());
    }

    /** The same dimension, whose distribution is known. */
    DimensionExplanation distributed(Distribution chosen, ReasonCode because) {
        return new DimensionExplanation(
                name, kind, chosen, because, filter, expectedBytes, rows, classes);
    }

    /**
     * The same dimension, of which more is known.
     *
     * @param rowsThatCame rows of the dimension in the subtask
     * @param joinedBy engines of its partitions
     * @return the explanation
     */
    public DimensionExplanation joinedBy(long rowsThatCame, List<PartitionClass> joinedBy) {
        return new DimensionExplanation(
                name, kind, distribution, why, filter, expectedBytes, rowsThatCame, joinedBy);
    }
}
