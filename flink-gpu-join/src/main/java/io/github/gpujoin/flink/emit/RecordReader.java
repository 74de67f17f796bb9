// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

/**
 * A join function that reads its records before it returns, and neither changes, keeps nor returns
 * them. It receives rows of tables in the memory of their chunks, which the next call reuses.
 */
public interface RecordReader {}
