// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** The tuples that all contenders join, and the answer they must give. */
package io.github.gpujoin.benchmarks.workload;
