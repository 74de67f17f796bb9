// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.ring.RingView;
import org.jspecify.annotations.Nullable;

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
     * Returns the host memory that contains the target, or null if the target is in device memory.
     * A holder that retains the region may read it after the target was closed.
     */
    @Nullable Region region();

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
