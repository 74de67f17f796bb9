// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Joining two files of rows: CSV, Avro containers or Parquet. */
package io.github.gpujoin.examples.files;
