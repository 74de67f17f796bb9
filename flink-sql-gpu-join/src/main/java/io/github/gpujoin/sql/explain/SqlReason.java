// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.explain;

import org.apache.flink.annotation.Experimental;

/** Why a join of a statement stays Flink's. {@code EXPLAIN} and the log contain the code. */
@Experimental
public enum SqlReason {
    /** The join compares no column of one side with a column of the other one. */
    NO_EQUAL_COLUMNS("no column of one side equals a column of the other side"),
    /** A key column has a type that keys cannot have. */
    KEY_TYPE("a key column is an array, a map, a row or of another type that keys cannot have"),
    /** A key column is a FLOAT or DOUBLE, for which Flink compares bits. */
    FLOATING_POINT_KEY("Flink compares the bits of FLOAT and DOUBLE keys: 0.0 differs from -0.0"),
    /** Some key columns treat nulls as equal, and others do not. */
    MIXED_NULLS("IS NOT DISTINCT FROM compares some of the key columns, = the others"),
    /** The key of a processing-time temporal join is not the primary key of the right side. */
    KEY_IS_NOT_PRIMARY_KEY("the join key has more columns than the primary key of the right side"),
    /** Rows of the left side of a temporal join are updated or deleted. */
    LEFT_SIDE_CHANGES("rows of the left side of a temporal join are updated or deleted"),
    /** The join calls a temporal table function. */
    TEMPORAL_FUNCTION("the join calls a temporal table function; use FOR SYSTEM_TIME AS OF"),
    /** The kind of join is not supported. */
    JOIN_KIND("the kind of join is not supported here"),
    /** A condition besides the key returns different results for the same rows. */
    NON_DETERMINISTIC_CONDITION("the condition calls a function that is not deterministic"),
    /** A join of batch mode other than inner has a condition besides the key. */
    CONDITION_IN_BATCH_MODE("in batch mode only inner joins have conditions besides the key"),
    /**
     * In batch mode, operators behind the join rely on how Flink distributes or sorts its results.
     */
    ORDER_OF_RESULTS(
            "operators behind the join rely on how Flink distributes or sorts its results"),
    /** Rows of an interval join expire with its interval. */
    INTERVAL_JOIN("rows of an interval join expire with the interval, which no GPU join supports"),
    /** A window join joins the rows of the same window. */
    WINDOW_JOIN(
            "a window join emits results at the end of each window, which no GPU join supports"),
    /** A lookup join reads the present row of a table. */
    LOOKUP_JOIN("a lookup reads the present row of a table, which a loaded table may not have"),
    /** A delta join reads matches from indexes of its sources. */
    DELTA_JOIN("a delta join reads matches from its sources, and keeps no rows"),
    /** In batch mode the planner chose a nested loop. */
    NESTED_LOOP_JOIN("one side is so small that the planner compares all of its rows"),
    /** The job checkpoints at least once. */
    AT_LEAST_ONCE("execution.checkpointing.mode is AT_LEAST_ONCE; the join needs EXACTLY_ONCE");

    private final String sentence;

    SqlReason(String sentence) {
        this.sentence = sentence;
    }

    /**
     * What it means, in a sentence.
     *
     * @return the sentence
     */
    public String sentence() {
        return sentence;
    }
}
