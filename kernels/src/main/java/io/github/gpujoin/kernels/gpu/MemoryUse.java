// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * Memory that all engines of a process use together on one device, and host memory used with it.
 * Bytes are as requested, without rounding by the driver. The values are read one after another, so
 * they may be of different moments.
 *
 * @param deviceBytes device memory in use
 * @param peakDeviceBytes maximum since the device was opened
 * @param pinnedBytes host memory in use: pinned, or with variable-width columns of build rows
 * @param peakPinnedBytes maximum since the device was opened
 */
public record MemoryUse(
        long deviceBytes, long peakDeviceBytes, long pinnedBytes, long peakPinnedBytes) {

    /** Returns the use of two devices together. */
    MemoryUse plus(MemoryUse other) {
        return new MemoryUse(
                deviceBytes + other.deviceBytes,
                peakDeviceBytes + other.peakDeviceBytes,
                pinnedBytes + other.pinnedBytes,
                peakPinnedBytes + other.peakPinnedBytes);
    }
}
