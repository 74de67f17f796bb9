// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Converts results of an engine to records: Rows, POJOs, RowData, Avro records, chunks, groups, or
 * what a join function returns. Compares full keys where the engine compared hashes. Start with
 * {@link io.github.gpujoin.flink.emit.ResultEmitters}.
 */
package io.github.gpujoin.flink.emit;
