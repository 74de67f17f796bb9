// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Conformance of the GPU engine without a GPU: its kernels run on the CPU, with one thread for each
 * block.
 */
@ExtendWith(HostDeviceConformanceTest.NotOneGroupATake.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostDeviceConformanceTest extends JoinEngineConformance {

    /** With one thread at a time, this test would stop the kernel 133,000 times. */
    static final class NotOneGroupATake implements ExecutionCondition {

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return context.getDisplayName().equals("maxGroups=1")
                    ? ConditionEvaluationResult.disabled("takes minutes on a CPU")
                    : ConditionEvaluationResult.enabled("is quick enough");
        }
    }

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
}
