// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Region;
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
        return device.timed(
                BulkWait.DEVICE_MEMORY, () -> whileStopped(owner -> owner.device(lengthBytes)));
    }

    /** Does the same with pinned host memory, whose pages are touched while other joins go on. */
    long allocatePinned(long lengthBytes) {
        return device.timed(
                BulkWait.PINNING,
                () ->
                        lengthBytes < MIN_SLAB_BYTES
                                ? whileStopped(owner -> owner.pinned(lengthBytes))
                                : (Long) buffers.slab(lengthBytes, new Pinning()));
    }

    private final class Pinning implements DeviceMemory.Pinning {

        @Override
        public void touch(Region pages) {
            device.timed(
                    BulkWait.PAGES,
                    () -> {
                        device.threads().touch(pages.address(), pages.lengthBytes());
                        return null;
                    });
        }

        @Override
        public void whileStopped(Runnable calls) {
            device.whileAllStopped(calls);
        }
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
        device.timed(
                BulkWait.DEVICE_MEMORY,
                () ->
                        whileStopped(
                                owner -> {
                                    owner.close();
                                    return owner;
                                }));
        device.remove(buffers);
    }
}
