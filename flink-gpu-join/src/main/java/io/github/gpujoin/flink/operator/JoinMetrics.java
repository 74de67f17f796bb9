package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.EngineStats;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.flink.checkpoint.PartitionSize;
import io.github.gpujoin.flink.checkpoint.ProbeLog;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/** The operator's metrics, under the group {@code gpuJoin}. */
final class JoinMetrics {

    private final Counter buildRows;
    private final Counter buildChunks;
    private final Counter probeRows;
    private final Counter probeChunks;
    private final BuildCounts buildCounts;

    JoinMetrics(
            MetricGroup operatorGroup,
            JoinEngine engine,
            ProbeLog probeLog,
            BuildCounts buildCounts) {
        this.buildCounts = buildCounts;
        MetricGroup group = operatorGroup.addGroup("gpuJoin");
        this.buildRows = group.counter("buildRows");
        this.buildChunks = group.counter("buildChunks");
        this.probeRows = group.counter("probeRows");
        this.probeChunks = group.counter("probeChunks");
        stat(group, "joinedRows", engine, EngineStats::probeRows);
        stat(group, "resultRows", engine, EngineStats::resultRows);
        stat(group, "tableBytes", engine, EngineStats::tableBytes);
        group.gauge("buildSkew", (Gauge<Double>) buildCounts::skew);
        group.gauge("waitingProbeChunks", (Gauge<Integer>) probeLog::size);
        group.gauge("inFlightProbeChunks", (Gauge<Integer>) engine::inFlight);
        group.gauge("offHeapBytes", (Gauge<Long>) Region::openBytes);
    }

    private static void stat(
            MetricGroup group, String name, JoinEngine engine, ToLongFunction<EngineStats> value) {
        group.gauge(name, (Gauge<Long>) () -> value.applyAsLong(engine.stats()));
    }

    void buildChunk(Chunk chunk) {
        buildChunks.inc();
        buildRows.inc(chunk.rowCount());
        buildCounts.add(chunk);
    }

    /** Chunks of a partition that a restored log has. */
    void restored(int dimension, PartitionSize size) {
        buildChunks.inc(size.chunks());
        buildRows.inc(size.rows());
        buildCounts.add(dimension, size.partition(), size.rows(), size.bytes());
    }

    void probeChunk(Chunk chunk) {
        probeChunks.inc();
        probeRows.inc(chunk.rowCount());
    }
}
