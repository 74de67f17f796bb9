// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The join engine on a GPU: a persistent kernel that joins segments of facts and writes results to
 * mapped host memory. Start reading at {@link io.github.gpujoin.kernels.gpu.GpuJoinEngine}; {@code
 * DeviceLease} runs the kernel, {@code SegmentPipe} feeds it, {@code GpuTables} builds the tables.
 */
package io.github.gpujoin.kernels.gpu;
