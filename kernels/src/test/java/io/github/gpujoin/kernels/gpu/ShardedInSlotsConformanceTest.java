// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.testing.InSlots;
import java.util.List;

/** Two GPUs with a shard of every table each read chunks of facts in place. */
@NeedsTwoGpus
class ShardedInSlotsConformanceTest extends GpuConformance {

    ShardedInSlotsConformanceTest() {
        super(GpuOptions.defaults().withDevices(List.of(0, 1)).withSpread(TableSpread.SHARDED));
    }

    @Override
    protected JoinEngineFactory factory() {
        return new InSlots(super.factory(), false);
    }
}
