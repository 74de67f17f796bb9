// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.JobShape.Rows;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * All that a life is made of: job, data, schedule and faults.
 *
 * @param seed of the schedule
 * @param splits of all sources
 * @param parallelism of all vertices at first
 * @param checkpointSteps steps between two checkpoints
 * @param channelCapacity elements that a channel holds
 * @param sinkRowNs time that the sink takes for a row
 * @param burst elements that a source emits in a step, while others are slow
 * @param faults in order
 * @param network faults of rings
 * @param goodCalls that a failing device carries out in each subtask
 */
record Scenario(
        long seed,
        JobShape shape,
        List<Split> splits,
        int parallelism,
        int checkpointSteps,
        int channelCapacity,
        long sinkRowNs,
        int burst,
        List<Fault> faults,
        SimulatedFaults network,
        int goodCalls) {

    /** One of so many lives has RocksDB, each task of which opens files. */
    private static final int ROCKSDB_SEEDS = 499;

    boolean isBounded(String source) {
        for (int d = 0; d < shape.dimensions().size(); d++) {
            if (source.equals(JobPlan.dimensionName(d))) {
                return shape.dimensions().get(d).rows() == Rows.BOUNDED;
            }
        }
        return true;
    }

    /**
     * Whether a dimension may never be complete without the element, so that a join rightly waits.
     */
    boolean completes(Split split, StreamElement element) {
        return !isBounded(split.source())
                && (element.isWatermarkStatus()
                        || element.isWatermark()
                                && element.asWatermark().getTimestamp() >= JobPlan.COMPLETE_AT);
    }

    /** Whether keyed state is in RocksDB. */
    boolean hasRocksDb() {
        return Math.floorMod(seed, ROCKSDB_SEEDS) == 7;
    }

    /** The life of a seed. */
    static Scenario of(long seed) {
        return new ScenarioDraw(seed).scenario();
    }

    Scenario with(List<Split> otherSplits, List<Fault> otherFaults) {
        return new Scenario(
                seed,
                shape,
                otherSplits,
                parallelism,
                checkpointSteps,
                channelCapacity,
                sinkRowNs,
                burst,
                otherFaults,
                network,
                goodCalls);
    }

    /**
     * This with splits that end early.
     *
     * @param positions of the elements at which they end, by source and split
     */
    Scenario cutAt(Map<String, Map<Integer, Integer>> positions) {
        List<Split> cut = new ArrayList<>();
        for (Split split : splits) {
            int end =
                    positions
                            .getOrDefault(split.source(), Map.of())
                            .getOrDefault(split.number(), split.script().size());
            cut.add(new Split(split.source(), split.number(), split.script().subList(0, end)));
        }
        return with(cut, faults);
    }

    /** The life in words, for people. */
    String describe() {
        StringBuilder text = new StringBuilder();
        text.append("  job: ").append(shape).append('\n');
        text.append("  schedule: parallelism=").append(parallelism);
        text.append(", checkpointSteps=").append(checkpointSteps);
        text.append(", channelCapacity=").append(channelCapacity);
        text.append(", sinkRowNs=").append(sinkRowNs);
        text.append(", burst=").append(burst).append('\n');
        for (Split split : splits) {
            text.append("  ").append(split.source()).append(" split ").append(split.number());
            text.append(": ");
            split.script().forEach(element -> text.append(describe(element)).append(' '));
            text.append('\n');
        }
        if (shape.hasFailingDevice()) {
            text.append("  device: goodCalls=").append(goodCalls).append('\n');
        }
        if (!network.equals(SimulatedFaults.NONE)) {
            text.append("  rings: ").append(network).append('\n');
        }
        faults.forEach(fault -> text.append("  ").append(fault).append('\n'));
        return text.toString().stripTrailing();
    }

    private static String describe(StreamElement element) {
        if (element.isRecord()) {
            StreamRecord<Object> record = element.asRecord();
            return record.getValue() + (record.hasTimestamp() ? "@" + record.getTimestamp() : "");
        }
        if (Split.isGate(element)) {
            return "gate";
        }
        return element.isWatermark()
                ? "watermark@" + element.asWatermark().getTimestamp()
                : element.toString();
    }
}
