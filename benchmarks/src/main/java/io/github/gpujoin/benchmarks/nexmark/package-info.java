// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The queries with joins of the public Nexmark suite, over events of Apache Beam's generator. Start
 * with {@link io.github.gpujoin.benchmarks.nexmark.NexmarkQuery}.
 */
package io.github.gpujoin.benchmarks.nexmark;
