/** The CUDA driver as the engine needs it, its loading, and what can be wrong with a GPU. */
package io.github.gpujoin.kernels.binding;
