// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.flink.api.explain.JoinExplanation;

/** A factory of a join operator, by which the joins of a job are found. */
public interface PlannedJoin {

    /** Returns the plan of the join. */
    JoinExplanation plan();
}
