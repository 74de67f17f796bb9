package io.github.gpujoin.kernels.gpu;

/**
 * What one lane of partitions has taken of a device's serving kernel since it was opened.
 *
 * @param blocks thread blocks that serve the lane now
 * @param steps that were served
 * @param busyNs device time of these steps, summed over blocks
 */
public record LaneLoad(int blocks, long steps, long busyNs) {}
