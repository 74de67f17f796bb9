// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.function.Function;

/**
 * Device memory and pinned host memory of one phase of a bulk join, freed together. Not
 * thread-safe.
 */
final class BulkMemory implements BulkAllocator, AutoCloseable {

    /** The driver pins less at once. */
    private static final long MIN_SLAB_BYTES = 256 << 10;

    private final BulkDevice device;
    private final Buffers buffers;

    /** Called by {@link BulkDevice#newMemory}. */
    BulkMemory(BulkDevice device, Buffers buffers) {
        this.device = device;
        this.buffers = buffers;
    }

    @Override
    public long allocate(long lengthBytes) {
        return whileStopped(owner -> owner.device(lengthBytes));
    }

    /** Does the same with pinned host memory. */
    long allocatePinned(long lengthBytes) {
        return device.timed(
                BulkWait.PINNING,
                () ->
                        whileStopped(
                                owner ->
                                        lengthBytes < MIN_SLAB_BYTES
                                                ? owner.pinned(lengthBytes)
                                                : owner.slab(lengthBytes, this::touch)));
    }

    private void touch(long address, long lengthBytes) {
        device.timed(
                BulkWait.PAGES,
                () -> {
                    device.threads().touch(address, lengthBytes);
                    return null;
                });
    }

    /** Returns the bytes of all of it. */
    long lengthBytes() {
        return buffers.lengthBytes();
    }

    @Override
    public long availableBytes() {
        return device.availableBytes();
    }

    /** Runs an action that needs {@link Buffers}. */
    <T> T whileStopped(Function<Buffers, T> action) {
        return device.whileAllStopped(() -> action.apply(buffers));
    }

    /**
     * Frees the memory, which no kernel and no copy uses. The device frees what is left when it is
     * closed.
     */
    @Override
    public void close() {
        whileStopped(
                owner -> {
                    owner.close();
                    return owner;
                });
        device.remove(buffers);
    }
}
