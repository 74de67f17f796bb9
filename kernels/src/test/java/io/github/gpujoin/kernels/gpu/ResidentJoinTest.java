// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;

/** The radix join. */
@NeedsGpu
class ResidentJoinTest extends DeviceTableJoinConformance {

    @Override
    DeviceTableJoin open(CudaDriver driver, int wordBits, Buffers scratch) {
        return new ResidentJoin(driver, wordBits, scratch.device(ResidentCall.BYTES));
    }

    @Override
    boolean isOrdered() {
        return false;
    }
}
