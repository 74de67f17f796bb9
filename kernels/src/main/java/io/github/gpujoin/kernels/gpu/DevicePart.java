// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.Comparator;

/**
 * A device, or one of its {@linkplain GpuOptions#virtualDevices virtual devices}.
 *
 * @param device number among the devices visible to the process
 * @param part number among the virtual devices of the device, from 0
 */
record DevicePart(int device, int part) implements Comparable<DevicePart> {

    private static final Comparator<DevicePart> ORDER =
            Comparator.comparingInt(DevicePart::device).thenComparingInt(DevicePart::part);

    @Override
    public int compareTo(DevicePart other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return part == 0 ? String.valueOf(device) : device + "." + part;
    }
}
