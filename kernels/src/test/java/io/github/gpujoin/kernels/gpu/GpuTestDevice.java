package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;

/** The device of tests that need one. */
final class GpuTestDevice {

    private static Boolean there;

    private GpuTestDevice() {}

    static synchronized boolean isThere() {
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
