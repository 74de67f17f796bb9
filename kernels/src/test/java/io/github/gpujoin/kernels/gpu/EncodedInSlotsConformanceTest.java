// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.testing.InSlots;

/** The kernel reads encoded chunks of facts in place, and verifies them. */
@NeedsGpu
class EncodedInSlotsConformanceTest extends GpuConformance {

    EncodedInSlotsConformanceTest() {
        super(GpuOptions.defaults());
    }

    @Override
    protected JoinEngineFactory factory() {
        return InSlots.encoded(super.factory(), false);
    }
}
