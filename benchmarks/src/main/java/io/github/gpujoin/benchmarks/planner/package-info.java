// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Replaces joins in Flink's SQL planner, which a class loader of its own hides. */
package io.github.gpujoin.benchmarks.planner;
