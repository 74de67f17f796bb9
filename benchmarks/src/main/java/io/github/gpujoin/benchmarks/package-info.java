/** Entry point of the measurements against peers. */
package io.github.gpujoin.benchmarks;
