// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Transports against Flink's own shuffle: chunks from one process to another. */
package io.github.gpujoin.benchmarks.transport;
