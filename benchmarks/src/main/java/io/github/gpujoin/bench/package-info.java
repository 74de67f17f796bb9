// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The commands of {@code bin/bench}: reads options, runs measurements and writes their files. Start
 * with {@link io.github.gpujoin.bench.Bench}.
 */
package io.github.gpujoin.bench;
