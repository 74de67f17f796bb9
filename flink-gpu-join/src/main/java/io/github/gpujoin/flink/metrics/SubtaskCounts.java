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
 * Counts of a subtask for logs and metrics. One thread counts; another may read slightly outdated
 * counts.
 */
public final class SubtaskCounts {

    private static final long UNKNOWN = PartitionClass.UNKNOWN;

    private final BuildCounts build;
    private final HeavyHitterSketch buildKeys;
    private final HeavyHitterSketch factKeys;
    private final StageTimes times = new StageTimes();

    /** Expected bytes of all dimensions in the subtask; UNKNOWN if one is unknown. */
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

    /** Counts the chunks of a partition in a restored log. */
    public void restored(int dimension, PartitionSize size) {
        build.add(dimension, size.partition(), size.chunks(), size.rows(), size.bytes());
    }

    public void probeChunk(Chunk chunk) {
        probeChunks++;
        probeRows += chunk.rowCount();
        factKeys.addFacts(chunk);
    }

    /**
     * Records that the tables are complete.
     *
     * @param startNs {@link System#nanoTime()} at the start of the build
     * @return duration of the build in ms
     */
    public long built(long startNs) {
        long ns = System.nanoTime() - startNs;
        times.add(StageTimes.Stage.BUILD, ns);
        isBuilt = true;
        return TimeUnit.NANOSECONDS.toMillis(ns);
    }

    /**
     * Progress from 0 to 1: the share of the expected bytes that arrived, less than 1, or 0 if they
     * are unknown; 1 when the tables are complete.
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
