package io.github.gpujoin.flink.operator;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.gpu.GpuJoinEngine;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the log and in metrics which engine joins, and why it is another one than was preferred.
 */
final class EngineReport {

    private static final Logger LOG = LoggerFactory.getLogger(EngineReport.class);

    private final String join;
    private final MetricGroup group;
    private final boolean asked;
    private final Map<GpuFailure, Counter> fallbacks = new EnumMap<>(GpuFailure.class);

    /**
     * @param asked whether the user asked for the preferred engine by name
     */
    EngineReport(String join, MetricGroup operatorGroup, boolean asked) {
        this.join = join;
        this.group = operatorGroup.addGroup("gpuJoin");
        this.asked = asked;
        for (GpuFailure reason : GpuFailure.values()) {
            fallbacks.put(reason, group.addGroup("reason", reason.name()).counter("fallbacks"));
        }
    }

    void register(EngineInUse engine) {
        group.gauge("engine", (Gauge<String>) engine::engineName);
        gpuGauge("kernelHeartbeat", engine, GpuJoinEngine::kernelHeartbeat);
        gpuGauge("deviceBytes", engine, gpu -> gpu.memoryUse().deviceBytes());
        gpuGauge("pinnedBytes", engine, gpu -> gpu.memoryUse().pinnedBytes());
    }

    /** 0 while another engine joins. */
    private void gpuGauge(String name, EngineInUse engine, ToLongFunction<GpuJoinEngine> value) {
        group.gauge(
                name,
                (Gauge<Long>)
                        () ->
                                engine.current() instanceof GpuJoinEngine gpu
                                        ? value.applyAsLong(gpu)
                                        : 0L);
    }

    /** The CPU engine takes over. A GPU that was never there is no news unless it was asked for. */
    void fallback(GpuUnavailableException e) {
        fallbacks.get(e.failure()).inc();
        String message = "Star join {}: the CPU joins, the GPU does not: {}";
        if (!asked && e.failure().isAbsence()) {
            LOG.info(message, join, e.getMessage());
        } else {
            LOG.warn(message, join, e.getMessage());
        }
    }
}
