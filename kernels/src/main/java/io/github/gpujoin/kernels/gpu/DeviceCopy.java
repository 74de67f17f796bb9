// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** A copy that reads a pinned run. */
interface DeviceCopy {

    /** A copy that has ended. */
    DeviceCopy NONE =
            new DeviceCopy() {
                @Override
                public boolean isOver() {
                    return true;
                }

                @Override
                public void await() {}
            };

    /**
     * Returns whether the copy has ended.
     *
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if it was never started, or
     *     the device failed
     */
    boolean isOver() throws InterruptedException;

    /** Waits for the copy; throws as {@link #isOver}. */
    void await() throws InterruptedException;

    /**
     * A copy that was queued on a device.
     *
     * @param number of the copy, or {@link RunSink#NO_COPY}
     */
    record Started(BulkDevice device, long number) implements DeviceCopy {

        @Override
        public boolean isOver() {
            return device.isCopied(number);
        }

        @Override
        public void await() throws InterruptedException {
            device.awaitCopy(number);
        }
    }
}
