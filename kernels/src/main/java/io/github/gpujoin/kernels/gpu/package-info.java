/** The join engine on a GPU: a persistent kernel fed by rings in mapped host memory. */
package io.github.gpujoin.kernels.gpu;
