// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Symmetric joins on the CPU: one index of the keys of all inputs, chains of rows that refer to
 * kept chunks, and the loop that joins a chunk. Start with {@code CpuSymmetricJoin}, and for more
 * than two inputs {@code CpuMultiJoin}.
 */
@NullMarked
package io.github.gpujoin.cpu.symmetric;

import org.jspecify.annotations.NullMarked;
