// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Conformance of the GPU engine without a GPU: its kernels run on the CPU, with one thread for each
 * block.
 */
@ExtendWith(NotOneGroupATake.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostDeviceConformanceTest extends JoinEngineConformance {

    private HostDevice device;

    @BeforeAll
    void openDevice() throws Exception {
        device = HostDevice.open(options());
    }

    GpuOptions options() {
        return GpuOptions.defaults().withSlots(4, 1000);
    }

    @AfterAll
    void closeDevice() {
        if (device != null) {
            device.close();
        }
    }

    @Override
    protected JoinEngineFactory factory() {
        return device;
    }

    @Override
    protected boolean separatesEqualHashes() {
        return false;
    }
}
