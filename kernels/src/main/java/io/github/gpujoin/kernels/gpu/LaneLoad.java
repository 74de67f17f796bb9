// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * Load of one lane of partitions since the device was opened.
 *
 * @param blocks thread blocks that serve the lane now
 * @param steps completed steps
 * @param busyNs device time of these steps, summed over blocks
 */
public record LaneLoad(int blocks, long steps, long busyNs) {}
