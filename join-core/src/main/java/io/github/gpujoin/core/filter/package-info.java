// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Conditions with which packers and sources drop facts that can have no result: ranges of values,
 * and approximate sets of the keys of a dimension. {@link
 * io.github.gpujoin.core.filter.KeyFilterBuilder} builds a set while the dimension loads, {@link
 * io.github.gpujoin.core.filter.RowPruner} applies conditions to batches.
 */
package io.github.gpujoin.core.filter;
