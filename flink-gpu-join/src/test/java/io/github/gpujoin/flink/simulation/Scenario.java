package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.JobShape.DimensionShape;
import io.github.gpujoin.flink.simulation.JobShape.Kind;
import io.github.gpujoin.flink.simulation.JobShape.Rows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;

/**
 * All that a life is made of: job, data, schedule and faults.
 *
 * @param seed of the schedule
 * @param splits of all sources
 * @param parallelism of all vertices at first
 * @param checkpointSteps steps between two checkpoints
 * @param channelCapacity elements that a channel holds
 * @param sinkRowNs time that the sink takes for a row
 * @param faults in order
 */
record Scenario(
        long seed,
        JobShape shape,
        List<Split> splits,
        int parallelism,
        int checkpointSteps,
        int channelCapacity,
        long sinkRowNs,
        List<Fault> faults) {

    private static final int KEYS = 6;

    boolean isBounded(String source) {
        for (int d = 0; d < shape.dimensions().size(); d++) {
            if (source.equals(JobPlan.dimensionName(d))) {
                return shape.dimensions().get(d).rows() == Rows.BOUNDED;
            }
        }
        return true;
    }

    /** The life of a seed. */
    static Scenario of(long seed) {
        return new Draw(seed).scenario();
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
                otherFaults);
    }

    /** The life in words, for people. */
    String describe() {
        StringBuilder text = new StringBuilder();
        text.append("  job: ").append(shape).append('\n');
        text.append("  schedule: parallelism=").append(parallelism);
        text.append(", checkpointSteps=").append(checkpointSteps);
        text.append(", channelCapacity=").append(channelCapacity);
        text.append(", sinkRowNs=").append(sinkRowNs).append('\n');
        for (Split split : splits) {
            text.append("  ").append(split.source()).append(" split ").append(split.number());
            text.append(": ");
            split.script().forEach(element -> text.append(describe(element)).append(' '));
            text.append('\n');
        }
        faults.forEach(fault -> text.append("  ").append(fault).append('\n'));
        return text.toString().stripTrailing();
    }

    private static String describe(StreamElement element) {
        if (element.isRecord()) {
            StreamRecord<Object> record = element.asRecord();
            return record.getValue() + (record.hasTimestamp() ? "@" + record.getTimestamp() : "");
        }
        return element.isWatermark()
                ? "watermark@" + element.asWatermark().getTimestamp()
                : element.toString();
    }

    /** Draws a scenario from a seed. */
    private static final class Draw {

        private final long seed;
        private final Random random;

        Draw(long seed) {
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
            JobShape shape = shape();
            int parallelism = 1 + random.nextInt(4);
            return new Scenario(
                    seed,
                    shape,
                    splits(shape),
                    parallelism,
                    20 + random.nextInt(150),
                    1 + random.nextInt(6),
                    0,
                    faults());
        }

        private JobShape shape() {
            int count = 1 + random.nextInt(2);
            int partitioned = oneIn(2) ? random.nextInt(count) : -1;
            List<DimensionShape> dimensions = new ArrayList<>();
            for (int d = 0; d < count; d++) {
                dimensions.add(
                        new DimensionShape(
                                one(List.of(Kind.values())), Rows.BOUNDED, d == partitioned));
            }
            return new JobShape(
                    dimensions,
                    oneIn(16) ? CheckpointingMode.AT_LEAST_ONCE : CheckpointingMode.EXACTLY_ONCE,
                    oneIn(2),
                    oneIn(4),
                    one(List.of(17, 256)),
                    one(List.of("reference", "cpu")));
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
            addSplits(splits, JobPlan.FACTS, facts);
            for (int d = 0; d < shape.dimensions().size(); d++) {
                addSplits(splits, JobPlan.dimensionName(d), dimension());
            }
            return splits;
        }

        private List<List<StreamElement>> dimension() {
            List<List<StreamElement>> scripts = scripts();
            int rows = random.nextInt(10);
            for (int i = 0; i < rows; i++) {
                one(scripts).add(new StreamRecord<>(Row.of((long) random.nextInt(KEYS), 100L + i)));
            }
            return scripts;
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

        private List<Fault> faults() {
            List<Fault> faults = new ArrayList<>();
            int count = random.nextInt(4);
            for (int i = 0; i < count; i++) {
                faults.add(
                        new Fault(
                                random.nextInt(400),
                                one(List.of(Fault.Kind.values())),
                                1 + random.nextInt(4),
                                random.nextInt(6),
                                oneIn(3) ? 1 + random.nextInt(40) : 0));
            }
            faults.sort(Comparator.comparingLong(Fault::step));
            return faults;
        }
    }
}
