// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.CudaDriver;

/**
 * Copies words by a kernel, through pinned memory: a copy engine would first end the copies of runs
 * that are queued. Called while the serving kernel is stopped. Not thread-safe.
 */
final class Mailbox implements WordCopies {

    /** Pinned memory of a mailbox. */
    static final int LENGTH_BYTES = 32 << 10;

    /** Longer copies are left to the driver. */
    private static final int MAX_BYTES = LENGTH_BYTES / 2;

    private static final int THREADS = 256;

    private final CudaDriver driver;
    private final Runnable awaitIdle;
    private final long outbox;
    private final long inbox;

    /** Whether a kernel may still read the outbox. */
    private boolean isOutboxRead;

    /**
     * @param pinned address of {@link #LENGTH_BYTES} of pinned memory
     * @param awaitIdle waits for all launched kernels
     */
    Mailbox(CudaDriver driver, long pinned, Runnable awaitIdle) {
        this.driver = driver;
        this.awaitIdle = awaitIdle;
        this.outbox = pinned;
        this.inbox = pinned + MAX_BYTES;
    }

    @Override
    public void toDevice(long deviceAddress, long hostAddress, long lengthBytes) {
        if (!fits(lengthBytes)) {
            driver.copyToDevice(deviceAddress, hostAddress, lengthBytes);
            return;
        }
        if (isOutboxRead) {
            awaitIdle.run();
        }
        Memory.copy(null, hostAddress, null, outbox, lengthBytes);
        launch(deviceAddress, outbox, lengthBytes);
        isOutboxRead = true;
    }

    @Override
    public void toHost(long hostAddress, long deviceAddress, long lengthBytes) {
        if (!fits(lengthBytes)) {
            driver.copyToHost(hostAddress, deviceAddress, lengthBytes);
            return;
        }
        launch(inbox, deviceAddress, lengthBytes);
        awaitIdle.run();
        isOutboxRead = false;
        Memory.copy(null, inbox, null, hostAddress, lengthBytes);
    }

    private static boolean fits(long lengthBytes) {
        return lengthBytes <= MAX_BYTES && lengthBytes % Long.BYTES == 0;
    }

    private void launch(long target, long source, long lengthBytes) {
        long words = lengthBytes / Long.BYTES;
        int blocks = (int) ((words + THREADS - 1) / THREADS);
        driver.launch("gpujoin_bulk_copy", blocks, THREADS, target, source, words);
    }
}
