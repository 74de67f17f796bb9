// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Joins two files of rows in CSV, Avro or Parquet. Start with {@link
 * io.github.gpujoin.examples.files.FileJoinJob}, which wires sources, join and sink; {@link
 * io.github.gpujoin.examples.files.RecordFormat} is the contract of a file format.
 */
package io.github.gpujoin.examples.files;
