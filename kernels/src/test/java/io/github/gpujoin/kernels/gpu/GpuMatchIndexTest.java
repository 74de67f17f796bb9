// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchIndex;
import java.util.List;

@NeedsGpu
class GpuMatchIndexTest extends MatchIndexConformance {

    @Override
    MatchIndex create(List<Boolean> removesRows, MemoryReservations hostMemory) {
        return new GpuMatchIndexFactory(GpuOptions.defaults()).create(removesRows, hostMemory);
    }
}
