// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import io.github.gpujoin.core.filter.LongCondition;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A condition on an integer column. A row whose value fails it has no result, and neither has one
 * whose value is null. Immutable.
 *
 * @param column name of the column
 * @param values which values may have results
 */
@PublicEvolving
public record ColumnCondition(String column, LongCondition values) implements Serializable {}
