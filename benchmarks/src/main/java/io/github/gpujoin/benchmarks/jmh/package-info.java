/** Microbenchmarks of single steps, each against a memory copy of the same bytes. */
package io.github.gpujoin.benchmarks.jmh;
