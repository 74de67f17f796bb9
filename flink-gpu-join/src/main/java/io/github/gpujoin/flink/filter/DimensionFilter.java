// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.KeyFilter;

/**
 * The keys of a complete dimension. A fact whose key is not among them has no result. Immutable.
 *
 * @param dimension name of the dimension
 * @param factColumn index of the key in the packed facts
 * @param keys of the dimension
 */
public record DimensionFilter(String dimension, int factColumn, KeyFilter keys) {}
