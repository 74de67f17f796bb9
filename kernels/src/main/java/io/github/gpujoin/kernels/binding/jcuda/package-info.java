/**
 * The binding to JCuda. Its classes are defined by a class loader of their own, together with
 * JCuda's; all others know the interface {@link io.github.gpujoin.kernels.binding.CudaDriver}.
 */
package io.github.gpujoin.kernels.binding.jcuda;
