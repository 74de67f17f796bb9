// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.testing.InSlots;

/** The kernel reads ranges of 64 or 128 rows of chunks that have fully arrived. */
class VerifiedInSlotsHostDeviceConformanceTest extends HostDeviceConformanceTest {

    @Override
    GpuOptions options() {
        return GpuOptions.defaults().withSlots(4, 150);
    }

    @Override
    protected JoinEngineFactory factory() {
        return new InSlots(super.factory(), true);
    }
}
