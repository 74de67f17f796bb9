// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;

/** Copies words between the host and a device, in the order of kernels. */
interface WordCopies {

    /** Copies host memory, which may change afterwards, for kernels that are launched later. */
    void toDevice(long deviceAddress, long hostAddress, long lengthBytes);

    /** Copies device memory after all launched kernels, and waits for it. */
    void toHost(long hostAddress, long deviceAddress, long lengthBytes);

    /** Copies by the driver. */
    static WordCopies of(CudaDriver driver) {
        return new WordCopies() {
            @Override
            public void toDevice(long deviceAddress, long hostAddress, long lengthBytes) {
                driver.copyToDevice(deviceAddress, hostAddress, lengthBytes);
            }

            @Override
            public void toHost(long hostAddress, long deviceAddress, long lengthBytes) {
                driver.copyToHost(hostAddress, deviceAddress, lengthBytes);
            }
        };
    }
}
