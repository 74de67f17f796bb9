// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.data;

import org.apache.flink.annotation.PublicEvolving;

/**
 * An unreadable record, which no chunk and no result contains: its filter or key throws, or a field
 * contradicts its type.
 *
 * @param side name of the join's input: of a dimension, {@code facts}, {@code build} or {@code
 *     probe}
 * @param record as text
 * @param reason messages of the failure and its causes, outermost first
 */
@PublicEvolving
public record BadRecord(String side, String record, String reason) {}
