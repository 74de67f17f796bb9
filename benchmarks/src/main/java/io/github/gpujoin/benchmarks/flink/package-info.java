/** Contenders that run as Flink jobs, and the source, sink and clock they share. */
package io.github.gpujoin.benchmarks.flink;
