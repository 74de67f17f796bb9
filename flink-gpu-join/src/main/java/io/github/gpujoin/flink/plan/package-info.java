// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the job graph of a join from its description: checks inputs, chooses keys, columns and
 * distribution, and connects packers, exchange and operator. Start with {@link
 * io.github.gpujoin.flink.plan.StarPipeline}.
 */
package io.github.gpujoin.flink.plan;
