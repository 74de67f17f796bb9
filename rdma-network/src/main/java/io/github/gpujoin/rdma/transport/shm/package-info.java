/** A transport between processes of one host: both map the same memory. */
package io.github.gpujoin.rdma.transport.shm;
