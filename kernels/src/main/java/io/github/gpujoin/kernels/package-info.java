// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Root of the GPU join engine; it contains no types. Start reading at {@link
 * io.github.gpujoin.kernels.gpu.GpuJoinEngine}; {@code binding} opens the device below it.
 */
package io.github.gpujoin.kernels;
