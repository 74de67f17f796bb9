/** The job jar on a Flink cluster of separate processes. */
package io.github.gpujoin.examples.cluster;
