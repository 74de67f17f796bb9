package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.hybrid.BuildChunks;
import io.github.gpujoin.hybrid.HybridJoinEngine;
import io.github.gpujoin.hybrid.HybridOptions;
import io.github.gpujoin.hybrid.Place;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.function.Consumer;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * An engine that divides its build side over the device and the host, as a subtask uses it.
 *
 * @param device null where there is none
 */
record DividedEngine(HybridJoinEngine engine, JoinEngineFactory device, JoinEngineFactory host)
        implements EngineInUse {

    static DividedEngine open(
            JoinSpec spec,
            Division division,
            KeyGroupRange partitions,
            JoinEngineFactory device,
            JoinEngineFactory host,
            BuildChunks log,
            Consumer<GpuUnavailableException> onFallback) {
        HybridOptions options =
                new HybridOptions(
                        division.dimension(),
                        partitions.getStartKeyGroup(),
                        partitions.getNumberOfKeyGroups(),
                        division.units());
        HybridJoinEngine engine =
                new HybridJoinEngine(
                        spec,
                        options,
                        device,
                        host,
                        log,
                        lost -> onFallback.accept((GpuUnavailableException) lost));
        return new DividedEngine(engine, device, host);
    }

    @Override
    public String engineName() {
        boolean onDevice = engine.places().contains(Place.DEVICE);
        boolean onlyThere = engine.places().stream().allMatch(place -> place == Place.DEVICE);
        if (!onDevice) {
            return host.engineName();
        }
        return onlyThere ? device.engineName() : device.engineName() + "+" + host.engineName();
    }

    @Override
    public String description() {
        String why =
                engine.deviceFailure() instanceof GpuUnavailableException failed
                        ? " (" + failed.failure() + ")"
                        : "";
        return engineName() + why + ", units: " + engine.describePlaces();
    }

    @Override
    public JoinEngine current() {
        return engine.onDevice();
    }

    void register(MetricGroup operatorGroup, SpilledFacts spilledFacts) {
        MetricGroup group = operatorGroup.addGroup("gpuJoin");
        for (Place place : Place.values()) {
            group.addGroup("place", place.name())
                    .gauge("units", (Gauge<Long>) () -> unitsIn(place));
        }
        group.gauge("spilledFactBytes", (Gauge<Long>) spilledFacts::waitingBytes);
        group.gauge("hostBytes", (Gauge<Long>) () -> CpuJoinEngineFactory.memoryUse().usedBytes());
    }

    private long unitsIn(Place place) {
        return engine.places().stream().filter(p -> p == place).count();
    }
}
