// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.testing.InSlots;

/** The kernel reads only the columns that it needs of encoded chunks that have fully arrived. */
class VerifiedEncodedInSlotsHostDeviceConformanceTest extends HostDeviceConformanceTest {

    @Override
    GpuOptions options() {
        return GpuOptions.defaults().withSlots(4, 1500);
    }

    @Override
    protected JoinEngineFactory factory() {
        return InSlots.encoded(super.factory(), true);
    }
}
