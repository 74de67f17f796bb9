// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.slot;

import io.github.gpujoin.core.layout.ChunkSlot;
import io.github.gpujoin.core.region.Region;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the users of a slot. The memory outlives its last user. Thread-safe. */
public abstract class CountedSlot implements ChunkSlot {

    private final Region region;
    private final long address;

    /** A release is ordered before the next use of the slot by the last decrement. */
    private final AtomicInteger users = new AtomicInteger(1);

    /**
     * @param region that contains the slot
     */
    protected CountedSlot(Region region, long address) {
        region.retain();
        this.region = region;
        this.address = address;
    }

    /** Called once, by the last user. */
    protected abstract void released();

    @Override
    public final long address() {
        requireUsers(users.get());
        return address;
    }

    @Override
    public final Region region() {
        return region;
    }

    @Override
    public boolean isVerified() {
        return true;
    }

    @Override
    public final void retain() {
        requireUsers(users.getAndUpdate(count -> count == 0 ? 0 : count + 1));
    }

    @Override
    public final void release() {
        int before = users.getAndUpdate(count -> count == 0 ? 0 : count - 1);
        requireUsers(before);
        if (before == 1) {
            try {
                released();
            } finally {
                region.release();
            }
        }
    }

    private static void requireUsers(int count) {
        if (count == 0) {
            throw new IllegalStateException("Slot is used after its last user released it.");
        }
    }
}
