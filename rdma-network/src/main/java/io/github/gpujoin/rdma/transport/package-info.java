/** One-sided writes into memory of another process, by whatever moves the bytes. */
package io.github.gpujoin.rdma.transport;
