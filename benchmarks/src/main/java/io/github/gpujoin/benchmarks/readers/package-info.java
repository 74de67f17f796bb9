// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Readers of Parquet, alone: without a job and without a join. */
@NullMarked
package io.github.gpujoin.benchmarks.readers;

import org.jspecify.annotations.NullMarked;
