// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding;

/** Why a GPU cannot be used, or can no longer be used. The names appear in logs and metrics. */
public enum GpuFailure {
    /** The CUDA driver is not installed, or the process cannot use it. */
    NO_DRIVER,
    /** The driver works, but there is no device with the requested number, or it does not open. */
    NO_DEVICE,
    /**
     * Another class loader of the process, usually another job with its own jar, uses the device.
     */
    DEVICE_TAKEN,
    /** The jar was built without nvcc, or contains no code for this device. */
    NO_KERNEL_IMAGE,
    /**
     * Tables or buffers exceed a memory budget, an allocation of device or pinned memory failed, a
     * table has too many rows, or the device has too many engines. Another engine may fit.
     */
    OUT_OF_DEVICE_MEMORY,
    /** The join has more dimensions or fact columns than the kernels support. */
    UNSUPPORTED_JOIN,
    /**
     * Two keys of a changing dimension have one hash. Kernels compare hashes; the CPU engine
     * compares full keys.
     */
    HASH_COLLISION,
    /** A key of a symmetric join has more rows than a device walks in a few seconds. */
    HEAVY_HITTER,
    /** The device failed in this process; its memory can no longer be read. Lasts. */
    DEVICE_LOST,
    /** The kernel runs but makes no progress. */
    KERNEL_STALLED;

    /**
     * Returns whether the machine, the jar or the kernels lack what the join needs. A join that did
     * not request a GPU expects this and does not warn.
     */
    public boolean isAbsence() {
        return switch (this) {
            case NO_DRIVER, NO_DEVICE, NO_KERNEL_IMAGE, UNSUPPORTED_JOIN -> true;
            case DEVICE_TAKEN,
                    OUT_OF_DEVICE_MEMORY,
                    HASH_COLLISION,
                    HEAVY_HITTER,
                    DEVICE_LOST,
                    KERNEL_STALLED ->
                    false;
        };
    }
}
