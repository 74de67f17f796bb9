// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Operators that filter records or columnar chunks and pack the selected columns into chunks, one
 * radix partition or one receiving subtask a chunk. Start with {@link
 * io.github.gpujoin.flink.pack.PackOperator} for records and {@link
 * io.github.gpujoin.flink.pack.ChunkPackOperator} for chunks.
 */
package io.github.gpujoin.flink.pack;
