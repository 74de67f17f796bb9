// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import io.github.gpujoin.core.region.Region;

/**
 * Native memory that holds one chunk until its last user releases it. Then the owner of the memory
 * fills it again: a pool, or the writer of a ring, for whom the release is credit.
 *
 * <p>A new slot has one user. Thread-safe.
 */
public interface ChunkSlot {

    /**
     * Returns the address of the chunk's header, aligned to 64 bytes.
     *
     * @throws IllegalStateException if the slot has no user
     */
    long address();

    /** Returns the memory that contains the slot, which a device may have registered. */
    Region region();

    /**
     * Whether every byte of the chunk is known to be in the slot. If not, a network may still write
     * it, and each reader verifies the checksum.
     */
    boolean isVerified();

    /**
     * Checks, behind a read, that it read what the writer published. Only a network overwrites a
     * slot that has a user, with a write that it delayed or repeated.
     *
     * @throws IllegalStateException if the slot was overwritten
     */
    default void requireIntact() {}

    /**
     * Adds a user.
     *
     * @throws IllegalStateException if the slot has no user
     */
    void retain();

    /**
     * Removes a user.
     *
     * @throws IllegalStateException if the slot has no user
     */
    void release();
}
