package io.github.gpujoin.kernels.gpu;

/**
 * What all engines of a process hold together of one device and of the host memory pinned for it,
 * as they asked for it, without the driver's rounding; and the most they ever held since the device
 * was opened.
 */
public record MemoryUse(
        long deviceBytes, long peakDeviceBytes, long pinnedBytes, long peakPinnedBytes) {}
