// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs and counts fallbacks from the preferred engine. */
final class EngineReport {

    private static final Logger LOG = LoggerFactory.getLogger(EngineReport.class);

    private final String join;
    private final Consumer<GpuFailure> counted;
    private final boolean asked;

    /**
     * @param counted receives each reason
     * @param asked whether the user asked for the preferred engine by name
     */
    EngineReport(String join, Consumer<GpuFailure> counted, boolean asked) {
        this.join = join;
        this.counted = counted;
        this.asked = asked;
    }

    /** Reports a fallback to the CPU engine. A missing GPU is reported only if it was asked for. */
    void fallback(GpuUnavailableException e) {
        counted.accept(e.failure());
        String message = "Star join {}: the CPU joins, the GPU does not: {}";
        if (!asked && e.failure().isAbsence()) {
            LOG.info(message, join, e.getMessage());
        } else {
            LOG.warn(message, join, e.getMessage());
        }
    }
}
