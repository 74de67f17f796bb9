// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** The join comparison: contenders, rounds, statistics and reports. */
package io.github.gpujoin.benchmarks.join;
