/** Contenders that run in this process without Flink. */
package io.github.gpujoin.benchmarks.local;
