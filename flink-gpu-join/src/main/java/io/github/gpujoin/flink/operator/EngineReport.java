package io.github.gpujoin.flink.operator;

import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says in the log, and counts, why another engine joins than was preferred. */
final class EngineReport {

    private static final Logger LOG = LoggerFactory.getLogger(EngineReport.class);

    private final String join;
    private final JoinMetrics metrics;
    private final boolean asked;

    /**
     * @param asked whether the user asked for the preferred engine by name
     */
    EngineReport(String join, JoinMetrics metrics, boolean asked) {
        this.join = join;
        this.metrics = metrics;
        this.asked = asked;
    }

    /** The CPU engine takes over. A GPU that was never there is no news unless it was asked for. */
    void fallback(GpuUnavailableException e) {
        metrics.fallbacks(e.failure()).inc();
        String message = "Star join {}: the CPU joins, the GPU does not: {}";
        if (!asked && e.failure().isAbsence()) {
            LOG.info(message, join, e.getMessage());
        } else {
            LOG.warn(message, join, e.getMessage());
        }
    }
}
