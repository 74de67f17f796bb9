// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * The runs of a {@link BuildStream} that one device has in its own memory.
 *
 * @param first number of the first run
 * @param step distance to the next one
 */
record RunShare(int first, int step) {}
