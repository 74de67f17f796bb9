// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.api.options.RingSharing;
import io.github.gpujoin.flink.exchange.ring.RingOptions;
import io.github.gpujoin.flink.simulation.JobShape.Api;
import io.github.gpujoin.flink.simulation.JobShape.DimensionShape;
import io.github.gpujoin.flink.simulation.JobShape.Kind;
import io.github.gpujoin.flink.simulation.JobShape.Rows;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/** Draws a scenario from a seed. */
final class ScenarioDraw {

    private static final int KEYS = 6;

    /** One of so many lives has the GPU engine, whose kernels run on threads of the CPU. */
    private static final int HOST_GPU_SEEDS = 50;

    /** One of so many lives has a slow sink and many facts; it takes seconds. */
    private static final int SLOW_SEEDS = 2_000;

    private static final int SLOW_FACTS = 120_000;
    private static final int SLOW_MATCHES = 6;
    private static final int SLOW_BURST = 1_024;

    /** A tenth of it is one step of each subtask of the join, so it is not less. */
    private static final int ROW_TTL_MS = 50;

    /** Below the size of most dimensions, about that of many, and above that of all. */
    private static final List<Integer> MEASURED_LIMITS = List.of(0, 64, 100_000);

    /** Between two versions of a dimension. */
    private static final long VERSION_MS = 40;

    private final long seed;
    private final Random random;

    ScenarioDraw(long seed) {
        this.seed = seed;
        this.random = new Random(seed * 0x9E3779B97F4A7C15L + 1);
    }

    private <T> T one(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    private boolean oneIn(int of) {
        return random.nextInt(of) == 0;
    }

    Scenario scenario() {
        if (Math.floorMod(seed, SLOW_SEEDS) == 42) {
            return withSlowSink();
        }
        JobShape shape = shape();
        if (Math.floorMod(seed, 3) == 1) {
            int limit = (int) Math.floorMod(seed / 3, (long) MEASURED_LIMITS.size());
            shape = shape.withMeasured(MEASURED_LIMITS.get(limit));
        }
        if (Math.floorMod(seed, 10) == 9) {
            RingSharing[] sharings = RingSharing.values();
            shape = shape.withRings(sharings[(int) Math.floorMod(seed / 10, sharings.length)]);
        } else if (Math.floorMod(seed, 10) == 3) {
            shape = shape.withFailingDevice();
        } else if (Math.floorMod(seed, HOST_GPU_SEEDS) == 27) {
            shape = shape.withHostGpu();
        }
        if (Math.floorMod(seed, 11) == 1) {
            shape = withManyKeyGroups(shape);
        }
        int parallelism = 1 + random.nextInt(4);
        return new Scenario(
                seed,
                shape,
                splits(shape),
                parallelism,
                20 + random.nextInt(150),
                1 + random.nextInt(6),
                oneIn(6) && shape.rowTtlMs() == 0
                        ? TimeUnit.MILLISECONDS.toNanos(1 + random.nextInt(40))
                        : 0,
                1,
                faults(),
                network(shape),
                one(List.of(0, 2, 10, 40, 150)));
    }

    /**
     * Chunks have one key group each in one life of four of these: its checkpoints are unaligned.
     */
    private JobShape withManyKeyGroups(JobShape shape) {
        List<Integer> counts = List.of(257, 300, 400);
        int count = counts.get((int) Math.floorMod(seed / 11, (long) counts.size()));
        return shape.withManyKeyGroups(count, Math.floorMod(seed / 33, 4) == 0);
    }

    /** Half of the lives with rings have faults in their network. */
    private SimulatedFaults network(JobShape shape) {
        if (!shape.hasRings() || oneIn(2)) {
            return SimulatedFaults.NONE;
        }
        return new SimulatedFaults(
                random.nextInt(20),
                random.nextInt(20),
                random.nextInt(20),
                random.nextInt(20),
                random.nextInt(50),
                random.nextInt(10),
                1 + random.nextLong(TimeUnit.MILLISECONDS.toNanos(50)));
    }

    /** Facts with many results each, behind a sink that takes a millisecond for a row. */
    private Scenario withSlowSink() {
        JobShape shape =
                new JobShape(
                        List.of(new DimensionShape(Kind.INNER, Rows.BOUNDED, oneIn(2))),
                        CheckpointingMode.EXACTLY_ONCE,
                        oneIn(2),
                        false,
                        16 << 10,
                        one(List.of("reference", "cpu")),
                        RingOptions.FLINK,
                        RingSharing.NONE,
                        0,
                        0,
                        JobShape.NOT_MEASURED,
                        JobShape.FEW_KEY_GROUPS);
        List<StreamElement> rows = new ArrayList<>();
        for (long i = 0; i < SLOW_MATCHES; i++) {
            rows.add(new StreamRecord<>(Row.of(0L, i)));
        }
        List<StreamElement> facts = new ArrayList<>();
        // They wait for the dimension outside the join, so that all come in JOIN.
        facts.add(Split.GATE);
        for (long i = 0; i < SLOW_FACTS; i++) {
            facts.add(new StreamRecord<>(Row.of(i, 0L), i));
        }
        return new Scenario(
                seed,
                shape,
                List.of(
                        new Split(JobPlan.FACTS, 0, facts),
                        new Split(JobPlan.dimensionName(0), 0, rows)),
                1,
                500,
                2,
                TimeUnit.MILLISECONDS.toNanos(1),
                SLOW_BURST,
                List.of(),
                SimulatedFaults.NONE,
                0);
    }

    private JobShape shape() {
        if (Math.floorMod(seed, 17) == 3) {
            return pair();
        }
        if (Math.floorMod(seed, 13) == 5) {
            return withTimesToLive();
        }
        if (Math.floorMod(seed, 7) == 6) {
            Kind kind = one(Kind.OF_STARS);
            return shape(
                    List.of(
                            new DimensionShape(kind, Rows.VERSIONED, true),
                            new DimensionShape(Kind.LEFT, Rows.BOUNDED, false)));
        }
        if (oneIn(5)) {
            Rows rows = Rows.CHANGING;
            boolean isPartitioned = oneIn(2);
            return shape(List.of(new DimensionShape(Kind.LEFT, rows, isPartitioned)));
        }
        int count = 1 + random.nextInt(2);
        int partitioned = oneIn(2) ? random.nextInt(count) : -1;
        List<DimensionShape> dimensions = new ArrayList<>();
        for (int d = 0; d < count; d++) {
            dimensions.add(
                    new DimensionShape(
                            one(Kind.OF_STARS),
                            oneIn(3) ? Rows.COMPLETE_AT_WATERMARK : Rows.BOUNDED,
                            d == partitioned));
        }
        return shape(dimensions);
    }

    /** A join of two streams, three of four of which keep rows of the dimension. */
    private JobShape pair() {
        Kind kind = oneIn(4) ? one(Kind.OF_STARS) : one(List.of(Kind.RIGHT, Kind.FULL));
        boolean isPartitioned = kind.keepsRows() || oneIn(2);
        Api api = oneIn(2) ? Api.PAIR : Api.PAIR_WITH_CONDITION;
        return shape(List.of(new DimensionShape(kind, Rows.BOUNDED, isPartitioned, api)));
    }

    /** Times that pass in the midst of a life. */
    private JobShape withTimesToLive() {
        if (oneIn(2)) {
            return shape(List.of(new DimensionShape(Kind.LEFT, Rows.CHANGING, oneIn(2))))
                    .withTimesToLive(ROW_TTL_MS, 0);
        }
        Rows rows = oneIn(2) ? Rows.COMPLETE_AT_WATERMARK : Rows.BOUNDED;
        return shape(List.of(new DimensionShape(one(Kind.OF_STARS), rows, oneIn(2))))
                .withTimesToLive(0, one(List.of(1, 5)));
    }

    private JobShape shape(List<DimensionShape> dimensions) {
        return new JobShape(
                dimensions,
                oneIn(16) ? CheckpointingMode.AT_LEAST_ONCE : CheckpointingMode.EXACTLY_ONCE,
                oneIn(2),
                oneIn(4),
                one(List.of(17, 256)),
                one(List.of("reference", "cpu")),
                RingOptions.FLINK,
                RingSharing.NONE,
                0,
                0,
                JobShape.NOT_MEASURED,
                JobShape.FEW_KEY_GROUPS);
    }

    private List<Split> splits(JobShape shape) {
        List<Split> splits = new ArrayList<>();
        List<List<StreamElement>> facts = scripts();
        int count = 8 + random.nextInt(40);
        for (int number = 0; number < count; number++) {
            Row row = new Row(1 + shape.dimensions().size());
            row.setField(0, (long) number);
            for (int d = 0; d < shape.dimensions().size(); d++) {
                row.setField(1 + d, (long) random.nextInt(KEYS));
            }
            List<StreamElement> script = one(facts);
            script.add(new StreamRecord<>(row, 10L * number));
            if (oneIn(4)) {
                script.add(new Watermark(10L * number));
            }
        }
        if (shape.changes() || shape.factTtlMs() > 0) {
            for (List<StreamElement> script : facts) {
                script.add(random.nextInt(1 + script.size()), Split.GATE);
            }
        }
        addSplits(splits, JobPlan.FACTS, facts);
        for (int d = 0; d < shape.dimensions().size(); d++) {
            addSplits(
                    splits,
                    JobPlan.dimensionName(d),
                    dimension(shape.dimensions().get(d).rows(), shape.isPair()));
        }
        return splits;
    }

    /**
     * @param isWide whether half of the keys are of no fact
     */
    private List<List<StreamElement>> dimension(Rows kind, boolean isWide) {
        List<List<StreamElement>> scripts = scripts();
        int rows = random.nextInt(10);
        for (int i = 0; i < rows; i++) {
            Row row = Row.of((long) random.nextInt(isWide ? 2 * KEYS : KEYS), 100L + i);
            if (kind == Rows.CHANGING) {
                row.setKind(oneIn(4) ? RowKind.DELETE : RowKind.UPDATE_AFTER);
            }
            List<StreamElement> script = one(scripts);
            script.add(new StreamRecord<>(row, VERSION_MS * i + 5));
            if (kind == Rows.VERSIONED && oneIn(2)) {
                script.add(new Watermark(VERSION_MS * i + 5));
            }
        }
        if (kind == Rows.VERSIONED) {
            for (List<StreamElement> script : scripts) {
                script.add(new Watermark(JobPlan.COMPLETE_AT));
                if (oneIn(2)) {
                    script.add(WatermarkStatus.IDLE);
                }
            }
        }
        if (kind == Rows.COMPLETE_AT_WATERMARK) {
            endByWatermark(scripts);
        }
        return scripts;
    }

    /** All scripts end behind the watermark or idle, and at least the first one behind it. */
    private void endByWatermark(List<List<StreamElement>> scripts) {
        for (int i = 0; i < scripts.size(); i++) {
            List<StreamElement> script = scripts.get(i);
            if (i > 0 && oneIn(3)) {
                script.add(WatermarkStatus.IDLE);
                continue;
            }
            script.add(new Watermark(JobPlan.COMPLETE_AT));
            if (oneIn(6)) {
                // Late, and of a key that no fact has: it is dropped.
                script.add(new StreamRecord<>(Row.of((long) KEYS, 99L), 1));
            }
        }
    }

    private List<List<StreamElement>> scripts() {
        List<List<StreamElement>> scripts = new ArrayList<>();
        int count = 1 + random.nextInt(4);
        for (int i = 0; i < count; i++) {
            scripts.add(new ArrayList<>());
        }
        return scripts;
    }

    private static void addSplits(
            List<Split> splits, String source, List<List<StreamElement>> scripts) {
        for (int i = 0; i < scripts.size(); i++) {
            splits.add(new Split(source, i, scripts.get(i)));
        }
    }

    /** A drain ends the life, so it is rare. */
    private Fault.Kind kindOfFault() {
        Fault.Kind kind = one(List.of(Fault.Kind.values()));
        return kind == Fault.Kind.DRAIN && !oneIn(3) ? Fault.Kind.RESTART : kind;
    }

    private List<Fault> faults() {
        List<Fault> faults = new ArrayList<>();
        int count = random.nextInt(4);
        for (int i = 0; i < count; i++) {
            faults.add(
                    new Fault(
                            random.nextInt(400),
                            kindOfFault(),
                            1 + random.nextInt(4),
                            random.nextInt(6),
                            oneIn(3) ? 1 + random.nextInt(40) : 0));
        }
        faults.sort(Comparator.comparingLong(Fault::step));
        return faults;
    }
}
