// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.options.MetricLevel;
import java.io.Serializable;

/**
 * Settings of the logs and metrics of a join's subtasks.
 *
 * @param plan of the join before the run
 * @param fanOutWarning smallest fan-out to warn of
 */
public record JoinReporting(JoinExplanation plan, MetricLevel metrics, int fanOutWarning)
        implements Serializable {

    private static final long serialVersionUID = 1L;
}
