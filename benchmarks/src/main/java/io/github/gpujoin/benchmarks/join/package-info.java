/** The join comparison: contenders, rounds, statistics and reports. */
package io.github.gpujoin.benchmarks.join;
