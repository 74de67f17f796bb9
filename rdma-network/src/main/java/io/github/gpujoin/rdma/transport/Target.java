// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.core.ring.RingView;

/** Registered memory of this process that one peer writes. */
public interface Target extends RegisteredMemory {

    /**
     * Returns how this process reads the memory: in place for host memory, through a copy for
     * device memory.
     */
    default RingView view() {
        return RingView.inPlace(address());
    }

    /**
     * Returns the address and key that the peer needs to write here, at most {@link
     * Transport#MAX_DESCRIPTOR_BYTES} bytes. The descriptor is a capability: send it only to an
     * authenticated peer.
     */
    byte[] descriptor();

    /**
     * Revokes the key, then releases the memory. After this returns, no write of a peer changes the
     * memory, whatever it is used for next. Idempotent, and legal while connections are open; their
     * next {@link Connection#poll} may fail.
     */
    @Override
    void close();
}
