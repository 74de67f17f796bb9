// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding.jcuda;

import jcuda.Pointer;

/** A host address as a JCuda host pointer. */
final class HostAddress extends Pointer {

    HostAddress() {}

    HostAddress(long address) {
        super(address);
    }

    long value() {
        return getNativePointer();
    }
}
