package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;

/** The device of tests that need one. */
public final class GpuTestDevice {

    private static Boolean there;

    private GpuTestDevice() {}

    /**
     * Keeps a device open until it is closed: each engine that comes alone would open it anew,
     * which takes 0.1 s.
     */
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
