// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.flink.api.explain.JoinExplanation;
import java.util.Optional;

/** A factory of a join operator, by which the joins of a job are found. */
public interface PlannedJoin {

    /** Returns the plan of the join; empty if another operator of the join returns it. */
    Optional<JoinExplanation> plan();
}
