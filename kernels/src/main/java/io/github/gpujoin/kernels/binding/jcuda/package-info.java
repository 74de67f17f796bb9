// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The implementation of {@link io.github.gpujoin.kernels.binding.CudaDriver} on JCuda. A separate
 * class loader defines these classes together with JCuda, so no other package refers to them. Start
 * reading at {@code JCudaBinding}.
 */
package io.github.gpujoin.kernels.binding.jcuda;
