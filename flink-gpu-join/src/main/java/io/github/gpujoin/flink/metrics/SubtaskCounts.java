// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.state.PartitionSize;
import java.util.concurrent.TimeUnit;

/**
 * What a subtask saw and did, for logs and metrics. One thread counts; another may read counts that
 * are a little old.
 */
public final class SubtaskCounts {

    private static final long UNKNOWN = PartitionClass.UNKNOWN;

    private final BuildCounts build;
    private final HeavyHitterSketch buildKeys;
    private final HeavyHitterSketch factKeys;
    private final StageTimes times = new StageTimes();

    /** Bytes that the subtask is to get of all dimensions; UNKNOWN if one is not known. */
    private final long expectedBytes;

    private long probeRows;
    private long probeChunks;
    private volatile boolean isBuilt;

    /**
     * @param plan has as many dimensions as the spec
     */
    public SubtaskCounts(JoinSpec spec, JoinExplanation plan, int partitions, int parallelism) {
        this.build = new BuildCounts(spec.dimensions().size(), partitions);
        this.buildKeys = new HeavyHitterSketch(spec);
        this.factKeys = new HeavyHitterSketch(spec);
        this.expectedBytes = expectedBytes(plan, parallelism);
    }

    private static long expectedBytes(JoinExplanation plan, int parallelism) {
        long all = 0;
        for (DimensionExplanation dimension : plan.dimensions()) {
            if (dimension.expectedBytes() == UNKNOWN) {
                return UNKNOWN;
            }
            boolean partitioned = dimension.distribution() == Distribution.PARTITIONED;
            all += dimension.expectedBytes() / (partitioned ? parallelism : 1);
        }
        return all;
    }

    public void buildChunk(Chunk chunk) {
        build.add(chunk);
        buildKeys.addBuild(chunk);
    }

    /** Chunks of a partition that a restored log has. */
    public void restored(int dimension, PartitionSize size) {
        build.add(dimension, size.partition(), size.chunks(), size.rows(), size.bytes());
    }

    public void probeChunk(Chunk chunk) {
        probeChunks++;
        probeRows += chunk.rowCount();
        factKeys.addFacts(chunk);
    }

    /**
     * The tables are there.
     *
     * @param startNs {@link System#nanoTime()} when the last of them was begun
     * @return milliseconds that it took
     */
    public long built(long startNs) {
        long ns = System.nanoTime() - startNs;
        times.add(StageTimes.Stage.BUILD, ns);
        isBuilt = true;
        return TimeUnit.NANOSECONDS.toMillis(ns);
    }

    /**
     * From 0 to 1: 1 when the tables are there; before, the share of the expected bytes that came,
     * less than 1, or 0 where those are not known.
     */
    double buildProgress() {
        if (isBuilt) {
            return 1;
        }
        return expectedBytes <= 0 ? 0 : Math.min(0.99, (double) build.allBytes() / expectedBytes);
    }

    public BuildCounts build() {
        return build;
    }

    public HeavyHitterSketch buildKeys() {
        return buildKeys;
    }

    HeavyHitterSketch factKeys() {
        return factKeys;
    }

    public StageTimes times() {
        return times;
    }

    long probeRows() {
        return probeRows;
    }

    long probeChunks() {
        return probeChunks;
    }
}
