/**
 * Samples the resident memory of a TaskManager process while jobs join build sides larger than its
 * managed memory. Start with {@link io.github.gpujoin.systemtests.memory.ProcessCluster}.
 */
package io.github.gpujoin.systemtests.memory;
