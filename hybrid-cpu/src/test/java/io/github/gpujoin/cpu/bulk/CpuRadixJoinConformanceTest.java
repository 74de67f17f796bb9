// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.Allocator;

class CpuRadixJoinConformanceTest extends BulkJoinConformance {

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        return new CpuRadixJoin(spec, RadixJoinOptions.ofThreads(2), Allocator.unlimited());
    }
}
