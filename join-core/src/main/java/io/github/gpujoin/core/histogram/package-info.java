// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Row counts by radix partition: exact in {@link io.github.gpujoin.core.histogram.Histogram}, of
 * recent rows in {@link io.github.gpujoin.core.histogram.RunningHistogram}.
 */
package io.github.gpujoin.core.histogram;
