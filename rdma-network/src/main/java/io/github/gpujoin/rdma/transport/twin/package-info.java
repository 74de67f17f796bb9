/** A transport inside one process that fails as networks fail, the same way for the same seed. */
package io.github.gpujoin.rdma.transport.twin;
