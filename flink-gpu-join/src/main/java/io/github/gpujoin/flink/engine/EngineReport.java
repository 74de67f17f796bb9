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
    private final boolean isRequested;

    /**
     * @param counted receives each reason
     * @param isRequested whether the user named the preferred engine
     */
    EngineReport(String join, Consumer<GpuFailure> counted, boolean isRequested) {
        this.join = join;
        this.counted = counted;
        this.isRequested = isRequested;
    }

    /**
     * Reports a fallback to the CPU engine. A missing GPU is a warning only if the user named it.
     */
    void fallback(GpuUnavailableException e) {
        counted.accept(e.failure());
        String message = "Star join {}: the CPU joins, the GPU does not: {}";
        if (!isRequested && e.failure().isAbsence()) {
            LOG.info(message, join, e.getMessage());
        } else {
            LOG.warn(message, join, e.getMessage());
        }
    }
}
