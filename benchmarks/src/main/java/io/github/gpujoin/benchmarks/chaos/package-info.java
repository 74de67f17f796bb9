/** A star join on a cluster of processes that are killed, paused and cut off while it runs. */
package io.github.gpujoin.benchmarks.chaos;
