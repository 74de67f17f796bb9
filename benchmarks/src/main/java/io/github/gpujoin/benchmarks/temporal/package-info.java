// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Event-time temporal joins in SQL: orders that are converted by the exchange rates of their time.
 * Start with {@link io.github.gpujoin.benchmarks.temporal.ConversionQuery}.
 */
package io.github.gpujoin.benchmarks.temporal;
