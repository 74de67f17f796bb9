// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;

/** The devices of tests that need some. */
public final class GpuTestDevice {

    private static Boolean there;

    private GpuTestDevice() {}

    /** Keeps the devices open until closed, because opening one for each engine takes 0.1 s. */
    public static AutoCloseable open(GpuOptions options) {
        return DeviceGroup.acquire(options)::release;
    }

    /** Frees pinned memory that ended joins have left for others on the devices of the options. */
    public static void freeKept(GpuOptions options) {
        DeviceGroup group = DeviceGroup.acquire(options);
        group.members().forEach(lease -> lease.memory().freeKept());
        group.release();
    }

    /** Returns whether there are two devices. */
    public static boolean areTwo() {
        return isThere() && CudaDrivers.deviceCount() > 1;
    }

    public static synchronized boolean isThere() {
        if (there == null) {
            try {
                CudaDrivers.open(0).close();
                there = true;
            } catch (GpuUnavailableException e) {
                there = false;
            }
        }
        return there;
    }
}
