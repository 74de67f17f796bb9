// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** Conformance of engines on a device that stays open, because opening it takes 0.1 s. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class GpuConformance extends JoinEngineConformance {

    private final GpuOptions options;
    private AutoCloseable device;

    GpuConformance(GpuOptions options) {
        this.options = options;
    }

    @BeforeAll
    void openDevice() {
        device = GpuTestDevice.open(options);
    }

    @AfterAll
    void closeDevice() throws Exception {
        device.close();
    }

    @Override
    protected JoinEngineFactory factory() {
        return new GpuJoinEngineFactory(options);
    }

    @Override
    protected boolean separatesEqualHashes() {
        return false;
    }
}
