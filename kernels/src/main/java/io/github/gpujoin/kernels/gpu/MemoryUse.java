package io.github.gpujoin.kernels.gpu;

/**
 * What all engines of a process hold together of one device and of the host memory taken for it
 * (pinned, and what carried bytes of build rows stay in), as they asked for it, without the
 * driver's rounding; and the most they ever held since the device was opened.
 */
public record MemoryUse(
        long deviceBytes, long peakDeviceBytes, long pinnedBytes, long peakPinnedBytes) {}
