// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding.jcuda;

import jcuda.driver.CUdeviceptr;

/** A device address as a JCuda device pointer. */
final class DeviceAddress extends CUdeviceptr {

    DeviceAddress() {}

    DeviceAddress(long address) {
        super(new CUdeviceptr(), address);
    }

    long value() {
        return getNativePointer() + getByteOffset();
    }
}
