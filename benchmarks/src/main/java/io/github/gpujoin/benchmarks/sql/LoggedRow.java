// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import org.apache.flink.table.data.RowData;

/**
 * An event in flight from the source to the table that it belongs to.
 *
 * @param table number of its table
 */
record LoggedRow(int table, RowData row) {}
