/** A transport over UCX (JUCX's bindings), which is TCP, shared memory or RDMA underneath. */
package io.github.gpujoin.rdma.transport.ucx;
