// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * Memory that all engines of a process use together on one device, and host memory used with it:
 * pinned memory and variable-width columns of build rows. Bytes are as requested, without rounding
 * by the driver. Peaks are since the device was opened.
 */
public record MemoryUse(
        long deviceBytes, long peakDeviceBytes, long pinnedBytes, long peakPinnedBytes) {}
