// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Two GPUs have all rows of the smaller input, if the kind of the join allows it. */
@NeedsTwoGpus
class ReplicatedGpuBulkJoinConformanceTest extends GpuGroupBulkJoinConformanceTest {

    @Override
    long replicatedRows() {
        return GroupBulkEngine.REPLICATED_ROWS;
    }
}
