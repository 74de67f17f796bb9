/** Transports against Flink's own shuffle: chunks from one process to another. */
package io.github.gpujoin.benchmarks.transport;
