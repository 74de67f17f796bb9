// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * Rows of one input of a bulk join in device memory.
 *
 * @param runs device address of the address of each run; 0 if there are no rows
 */
record BulkRows(BulkRunLayout layout, long runs, long rowCount) {}
