// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding;

/** Why a GPU cannot be used, or can no longer be used. The names appear in logs and metrics. */
public enum GpuFailure {
    /** The CUDA driver is not installed, or the process cannot use it. */
    NO_DRIVER,
    /** The driver works, but there is no device with the requested number. */
    NO_DEVICE,
    /**
     * Another class loader of the process, usually another job with its own jar, uses the device.
     */
    DEVICE_TAKEN,
    /** The jar was built without nvcc, or contains no code for this device. */
    NO_KERNEL_IMAGE,
    /**
     * Tables or buffers exceed a memory budget, or an allocation of device or pinned memory failed.
     */
    OUT_OF_DEVICE_MEMORY,
    /** The join has more dimensions or fact columns than the kernels support. */
    UNSUPPORTED_JOIN,
    /** The device failed while in use; its memory can no longer be read. */
    DEVICE_LOST,
    /** The kernel runs but makes no progress. */
    KERNEL_STALLED;

    /** Returns whether no GPU was available from the start, rather than failed while in use. */
    public boolean isAbsence() {
        return switch (this) {
            case NO_DRIVER, NO_DEVICE, NO_KERNEL_IMAGE, UNSUPPORTED_JOIN -> true;
            case DEVICE_TAKEN, OUT_OF_DEVICE_MEMORY, DEVICE_LOST, KERNEL_STALLED -> false;
        };
    }
}
