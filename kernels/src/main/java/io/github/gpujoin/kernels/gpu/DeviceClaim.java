package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.Properties;

/**
 * The right to drive a device from this process. One class loader has it at a time: a second
 * serving kernel would not find room beside the first, and the driver would make allocations for it
 * wait until the first one ends.
 *
 * <p>Claims stand in the system properties, the one map that all class loaders of a process share.
 * A device that failed stays claimed for good, since the driver may wait for it for ever.
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
     * @throws GpuUnavailableException where another class loader has the claim, or the device
     *     failed before
     */
    static DeviceClaim take(int device) {
        String key = PREFIX + device;
        Object holder = properties().putIfAbsent(key, TAKEN);
        if (LOST.equals(holder)) {
            throw lost(device);
        }
        if (holder != null) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_TAKEN,
                    "jobs of one TaskManager share a device if they load the join from one place,"
                            + " Flink's lib/ folder: device="
                            + device);
        }
        return new DeviceClaim(key);
    }

    static GpuUnavailableException lost(int device) {
        return new GpuUnavailableException(
                GpuFailure.DEVICE_LOST,
                "a device that failed is used again by a new process only: device=" + device);
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
