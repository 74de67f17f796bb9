// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;

/**
 * A ring in device memory. The host reads it through a window: page-locked memory of one slot, into
 * which the driver copies while the serving kernel runs.
 */
final class GpuRing implements DeviceRing {

    /**
     * A GPU maps memory for other devices in pages of this size, a multiple of the host page size.
     * The ring shares no page with other memory, so a network card cannot access more than the
     * ring.
     */
    static final long PAGE_BYTES = 64 << 10;

    private final DeviceLease lease;
    private final long stopTimeoutNs;
    private final Buffers buffers;
    private final long lengthBytes;
    private final int windowBytes;
    private long address;
    private long window;
    private boolean closed;

    /**
     * @param lease retained by the caller for this ring, which releases it, also if the constructor
     *     fails
     */
    GpuRing(DeviceLease lease, GpuOptions options, long lengthBytes, int windowBytes) {
        this.lease = lease;
        this.stopTimeoutNs = options.stallTimeoutNs();
        this.buffers = lease.memory().buffers(options.memory());
        this.lengthBytes = lengthBytes;
        this.windowBytes = windowBytes;
        try {
            lease.whileStopped(stopTimeoutNs, this::allocate);
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private void allocate() {
        long pagesBytes = (lengthBytes + PAGE_BYTES - 1) & -PAGE_BYTES;
        long allocation = buffers.device(pagesBytes + PAGE_BYTES);
        address = (allocation + PAGE_BYTES - 1) & -PAGE_BYTES;
        window = buffers.pinned(windowBytes);
        lease.driver().fillDevice(address, (byte) 0, lengthBytes);
        // waits for the fill, which must not overwrite what a card writes
        lease.driver().copyToHost(window, address, Math.min(windowBytes, lengthBytes));
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long lengthBytes() {
        return lengthBytes;
    }

    /**
     * {@inheritDoc}
     *
     * @throws GpuUnavailableException if the device is lost
     */
    @Override
    public long at(long offsetBytes, int shownBytes) {
        if (closed
                || offsetBytes < 0
                || shownBytes < 0
                || shownBytes > windowBytes
                || offsetBytes > lengthBytes - shownBytes) {
            throw new IllegalArgumentException(
                    "Ring is closed or read out of bounds: offsetBytes="
                            + offsetBytes
                            + ", lengthBytes="
                            + shownBytes
                            + ", ringBytes="
                            + lengthBytes
                            + ", slotBytes="
                            + windowBytes
                            + ", closed="
                            + closed);
        }
        lease.requireNotLost();
        try {
            lease.driver().copyToHostBeside(window, address + offsetBytes, shownBytes);
        } catch (GpuUnavailableException e) {
            lease.lose();
            throw e;
        }
        return window;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            lease.whileStopped(stopTimeoutNs, buffers::close);
        } catch (GpuUnavailableException e) {
            buffers.abandon();
        } finally {
            lease.release();
        }
    }
}
