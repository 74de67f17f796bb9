// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Explains a join: its plan before the run, and the plan as it runs, with the reason of each
 * decision. Start with {@link io.github.gpujoin.flink.api.explain.JoinExplanation}.
 */
package io.github.gpujoin.flink.api.explain;
