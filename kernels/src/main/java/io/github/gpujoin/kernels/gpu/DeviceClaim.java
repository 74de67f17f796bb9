// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.Properties;

/**
 * The right of one class loader to use a device in this process. A second serving kernel would find
 * no free multiprocessors, and the driver would delay its allocations until the first kernel ends.
 *
 * <p>Claims are stored in the system properties, the one map that all class loaders of a process
 * share. A device that failed stays claimed until the process exits, since the driver may never
 * return from a call to it.
 */
final class DeviceClaim {

    private static final String PREFIX = "io.github.gpujoin.device.";
    private static final String TAKEN = "taken";
    private static final String LOST = "lost";

    private final String key;

    private DeviceClaim(String key) {
        this.key = key;
    }

    /**
     * Claims a device.
     *
     * @throws GpuUnavailableException if another class loader holds the claim, or the device has
     *     failed
     */
    static DeviceClaim acquire(DevicePart device) {
        String key = PREFIX + device;
        Object holder = properties().putIfAbsent(key, TAKEN);
        if (LOST.equals(holder)) {
            throw lost(device);
        }
        if (holder != null) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_TAKEN,
                    "Device is used by another job with its own jar: device="
                            + device
                            + ". Put the jar into Flink's lib/ folder only.");
        }
        return new DeviceClaim(key);
    }

    static GpuUnavailableException lost(DevicePart device) {
        return new GpuUnavailableException(
                GpuFailure.DEVICE_LOST,
                "Device has failed: device=" + device + ". Restart the process to use it again.");
    }

    void release() {
        properties().remove(key);
    }

    void keepAsLost() {
        properties().put(key, LOST);
    }

    private static Properties properties() {
        return System.getProperties();
    }
}
