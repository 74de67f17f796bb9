/** The tuples that all contenders join, and the answer they must give. */
package io.github.gpujoin.benchmarks.workload;
