package io.github.gpujoin.kernels.binding;

/** Why a GPU cannot be used, or can no longer be used. Stands in logs and metrics. */
public enum GpuFailure {
    /** The CUDA driver is not installed, or not usable by this process. */
    NO_DRIVER,
    /** The driver is there and sees no device of the asked number. */
    NO_DEVICE,
    /** Another job of the process drives the device, and has loaded the join from elsewhere. */
    DEVICE_TAKEN,
    /** The jar was built without nvcc, or holds no code for this device. */
    NO_KERNEL_IMAGE,
    /** Tables or buffers do not fit the device, or the host gives no pinned memory. */
    OUT_OF_DEVICE_MEMORY,
    /** The join has more dimensions or keys than the kernels are built for. */
    UNSUPPORTED_JOIN,
    /** The device failed under way; nothing it holds can be read any more. */
    DEVICE_LOST,
    /** The kernel runs but makes no progress. */
    KERNEL_STALLED;

    /** Whether there is no GPU for the join in the first place, rather than one that fails. */
    public boolean isAbsence() {
        return switch (this) {
            case NO_DRIVER, NO_DEVICE, NO_KERNEL_IMAGE, UNSUPPORTED_JOIN -> true;
            case DEVICE_TAKEN, OUT_OF_DEVICE_MEMORY, DEVICE_LOST, KERNEL_STALLED -> false;
        };
    }
}
