// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;

/** The sort-merge join. */
@NeedsGpu
class SortMergeJoinTest extends DeviceTableJoinConformance {

    @Override
    DeviceTableJoin open(CudaDriver driver, int wordBits, Buffers scratch) {
        return new SortMergeJoin(driver, wordBits, scratch);
    }

    @Override
    boolean isOrdered() {
        return true;
    }
}
