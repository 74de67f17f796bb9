// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;

/** The device of tests that need one. */
public final class GpuTestDevice {

    private static Boolean there;

    private GpuTestDevice() {}

    /** Keeps a device open until closed, because opening it for each engine takes 0.1 s. */
    public static AutoCloseable open(GpuOptions options) {
        return DeviceLease.acquire(options)::release;
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
