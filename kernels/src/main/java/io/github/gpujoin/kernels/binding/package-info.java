// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The CUDA driver as an interface, how it is loaded, and why a GPU may be unavailable. Start
 * reading at {@link io.github.gpujoin.kernels.binding.CudaDriver}; {@link
 * io.github.gpujoin.kernels.binding.CudaDrivers} opens devices.
 */
package io.github.gpujoin.kernels.binding;
