// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;

/**
 * A due fact.
 *
 * @param row index in the chunk
 * @param time event time in ms
 */
record FactRow(Chunk chunk, int row, long time) {}
