// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import java.io.Serializable;

/**
 * Selects facts by the value of one column.
 *
 * @param column index in the schema of the facts of a fixed-width integer column
 * @param values of the facts to join
 */
public record FactFilter(int column, ValueRanges values) implements Serializable {}
