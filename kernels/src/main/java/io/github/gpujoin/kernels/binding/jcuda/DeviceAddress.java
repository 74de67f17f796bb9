package io.github.gpujoin.kernels.binding.jcuda;

import jcuda.driver.CUdeviceptr;

/** An address that JCuda takes for a device pointer. */
final class DeviceAddress extends CUdeviceptr {

    DeviceAddress() {}

    DeviceAddress(long address) {
        super(new CUdeviceptr(), address);
    }

    long value() {
        return getNativePointer() + getByteOffset();
    }
}
