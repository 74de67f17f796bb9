// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Microbenchmarks of single steps, each against a memory copy of the same bytes. */
package io.github.gpujoin.benchmarks.jmh;
