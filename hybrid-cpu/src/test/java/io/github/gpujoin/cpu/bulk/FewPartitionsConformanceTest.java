// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.Allocator;

/** One thread, two partitions and tiny result chunks, so that slots and batches are full. */
class FewPartitionsConformanceTest extends BulkJoinConformance {

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        return new CpuRadixJoin(
                spec, new RadixJoinOptions(1, 1, 1_000, null), Allocator.unlimited());
    }
}
