// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/**
 * A constant that was fitted to published points.
 *
 * @param fittedTo those points
 */
public record Constant(String name, double value, String unit, String fittedTo) {}
