// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.data;

import org.apache.flink.annotation.PublicEvolving;

/**
 * A record that the join skipped because it could not read it: its filter or key function threw, or
 * a field contradicts its type.
 *
 * @param side input of the join: the name of a dimension, {@code facts}, {@code build} or {@code
 *     probe}
 * @param record the record's {@code toString()}; its class and the failure if that throws
 * @param reason messages of the failure and its causes, outermost first
 */
@PublicEvolving
public record BadRecord(String side, String record, String reason) {}
