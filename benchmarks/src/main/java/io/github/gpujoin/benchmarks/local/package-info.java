// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Contenders that run in this process without Flink. */
package io.github.gpujoin.benchmarks.local;
