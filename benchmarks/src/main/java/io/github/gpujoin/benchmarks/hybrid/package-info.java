// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Joins whose build side does not fit memory, against the CPU engine with all the memory. */
package io.github.gpujoin.benchmarks.hybrid;
