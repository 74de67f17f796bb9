// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * A copy that was queued on a device.
 *
 * @param number of the copy, or {@link RunSink#NO_COPY}
 */
record DeviceCopy(BulkDevice device, long number) {

    /** Returns a copy that has ended. */
    static DeviceCopy none(BulkDevice device) {
        return new DeviceCopy(device, RunSink.NO_COPY);
    }

    /** Returns whether the copy has ended. */
    boolean isOver() {
        return device.isCopied(number);
    }

    /** Waits for the copy. */
    void await() throws InterruptedException {
        device.awaitCopy(number);
    }
}
