/**
 * Explains a join: its plan before the run, and the plan as it runs, with the reason of each
 * decision. Start with {@link io.github.gpujoin.flink.api.explain.JoinExplanation}.
 */
package io.github.gpujoin.flink.api.explain;
