/** Joins whose build side does not fit memory, against the CPU engine with all the memory. */
package io.github.gpujoin.benchmarks.hybrid;
