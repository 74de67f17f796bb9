/** Runs joins on the GPU. */
package io.github.gpujoin.kernels;
