// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.options.MetricLevel;
import java.io.Serializable;

/**
 * What the subtasks of a join tell of themselves.
 *
 * @param plan how the join is run, as far as that was known before
 * @param fanOutWarning results of one fact from which on there is a warning
 */
public record JoinReporting(JoinExplanation plan, MetricLevel metrics, int fanOutWarning)
        implements Serializable {

    private static final long serialVersionUID = 1L;
}
