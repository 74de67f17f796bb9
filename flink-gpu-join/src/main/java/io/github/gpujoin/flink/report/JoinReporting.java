package io.github.gpujoin.flink.report;

import io.github.gpujoin.flink.config.MetricLevel;
import io.github.gpujoin.flink.explain.JoinExplanation;
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
