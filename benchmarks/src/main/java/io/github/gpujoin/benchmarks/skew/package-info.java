// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The skew demo: a star join over facts of growing skew, and a report of who was busy with what.
 */
package io.github.gpujoin.benchmarks.skew;
