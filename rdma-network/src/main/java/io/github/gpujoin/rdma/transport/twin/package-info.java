/**
 * A transport inside one process with the faults of a network: lost, duplicated, torn, reordered
 * and delayed writes. The same seed reproduces the same faults.
 */
package io.github.gpujoin.rdma.transport.twin;
