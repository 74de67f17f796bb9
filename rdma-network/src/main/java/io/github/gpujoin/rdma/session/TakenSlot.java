// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.ring.TakenPayload;

/**
 * A payload that a reader uses in its slot, until {@link #release}. It is readable while its region
 * is retained, also after the connection is lost. Only one thread at a time may use it and its
 * session.
 */
public final class TakenSlot {

    private final Region region;
    private final TakenPayload payload;
    private final boolean mayChange;
    private final boolean isVerified;
    private final int channel;
    private final int attempt;

    /**
     * @param region that contains the slot
     * @param mayChange whether the transport may write to the slot although its writer has no
     *     credit, as a network can that delays or repeats writes
     * @param isVerified whether the whole payload has arrived
     * @param channel for messages, as is the attempt
     */
    TakenSlot(
            Region region,
            TakenPayload payload,
            boolean mayChange,
            boolean isVerified,
            int channel,
            int attempt) {
        this.region = region;
        this.payload = payload;
        this.mayChange = mayChange;
        this.isVerified = isVerified;
        this.channel = channel;
        this.attempt = attempt;
    }

    /** Returns the memory that contains the slot. */
    public Region region() {
        return region;
    }

    /** Returns the address of the payload. */
    public long address() {
        return payload.address();
    }

    public int lengthBytes() {
        return payload.lengthBytes();
    }

    /** Whether the whole payload has arrived. */
    public boolean isVerified() {
        return isVerified;
    }

    /** Whether the transport may still write to the slot, so that readers check what they read. */
    public boolean mayChange() {
        return mayChange;
    }

    /**
     * Releases the payload. A later step returns credit to the writer, unless a writer of another
     * attempt has replaced it. Legal in any state of the session.
     *
     * @throws IllegalStateException if the network has overwritten the slot, so that its reader may
     *     have read wrong values
     */
    public void release() {
        try {
            requireIntact();
        } finally {
            payload.release();
        }
    }

    /**
     * Does the same as {@link #release} without a check, for readers that have checked each part of
     * the payload behind their last read of it.
     */
    public void releaseChecked() {
        payload.release();
    }

    /**
     * Checks that a reader has read the payload of the writer.
     *
     * @throws IllegalStateException if the network has overwritten the slot
     */
    public void requireIntact() {
        if (mayChange && !payload.isIntact()) {
            throw new IllegalStateException(
                    "Slot was overwritten while it was read: channel="
                            + channel
                            + ", attempt="
                            + attempt
                            + ", sequence="
                            + payload.sequence()
                            + ". The job restarts.");
        }
    }
}
