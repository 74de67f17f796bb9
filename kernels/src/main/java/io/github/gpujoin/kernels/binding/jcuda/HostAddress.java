package io.github.gpujoin.kernels.binding.jcuda;

import jcuda.Pointer;

/** An address that JCuda takes for a host pointer. */
final class HostAddress extends Pointer {

    HostAddress() {}

    HostAddress(long address) {
        super(address);
    }

    long value() {
        return getNativePointer();
    }
}
