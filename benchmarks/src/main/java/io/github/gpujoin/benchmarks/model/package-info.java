// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A cost model of joins on several GPUs and nodes: stages that move bytes at measured, read or
 * specified rates. It is compared with published results, and predicts results of this project.
 * Start with {@link io.github.gpujoin.benchmarks.model.PerformanceModel}; {@code Inputs} has every
 * figure that goes in.
 */
package io.github.gpujoin.benchmarks.model;
