// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Writes chunks into rings of other processes and hosts. Read {@code session} first, the two ends
 * of a channel; {@code transport} moves their bytes, and {@code verbs} binds RDMA devices.
 */
package io.github.gpujoin.rdma;
