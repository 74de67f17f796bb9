// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Contenders that run as Flink jobs, and the source, sink and clock they share. */
package io.github.gpujoin.benchmarks.flink;
