// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Measures transports beside Flink's own shuffle: each sends chunks from one process to another.
 * Start with {@link io.github.gpujoin.benchmarks.transport.Stream}.
 */
package io.github.gpujoin.benchmarks.transport;
