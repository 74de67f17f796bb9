// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Metric;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;

/**
 * Facts and a dimension that has one of {@value #MATCHING} keys. Facts are sent slowly until a
 * filter drops one: the dimension may complete after all facts were sent otherwise.
 */
abstract class FactFiltersScenario {

    static final long KEYS = 10_000;
    static final long MATCHING = 10;

    private static final long LONGEST_PACE_NS = 30_000_000_000L;

    private static volatile boolean isPaced;
    private static volatile long paceFromNs;
    private static volatile long prunedBefore;

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;
        public String text;
        public long number;

        public Numbered() {}
    }

    /** Of the test class that runs: a reporter ends with its cluster. */
    private static volatile InMemoryReporter reporter;

    static void read(InMemoryReporter ofClass) {
        reporter = ofClass;
    }

    static MiniClusterExtension cluster(InMemoryReporter ofClass, int taskManagers, int slotsEach) {
        return new MiniClusterExtension(
                new MiniClusterResourceConfiguration.Builder()
                        .setNumberTaskManagers(taskManagers)
                        .setNumberSlotsPerTaskManager(slotsEach)
                        .setConfiguration(ofClass.addToConfiguration(new Configuration()))
                        .build());
    }

    static long key(long number) {
        return number * 7 % KEYS;
    }

    static Numbered numbered(long number) {
        Numbered row = new Numbered();
        row.key = key(number);
        row.text = "key " + row.key;
        row.number = number;
        return row;
    }

    static DataStreamSource<Long> sequence(StreamExecutionEnvironment env, long count) {
        return env.fromSource(
                new NumberSequenceSource(0, count - 1),
                WatermarkStrategy.noWatermarks(),
                "sequence");
    }

    static SingleOutputStreamOperator<Numbered> numbered(DataStream<Long> numbers) {
        return numbers.map(number -> numbered(number)).returns(TypeInformation.of(Numbered.class));
    }

    static List<Metric> metrics(String name) {
        return reporter.getMetricsByGroup().values().stream()
                .map(metrics -> metrics.get(name))
                .filter(Objects::nonNull)
                .toList();
    }

    static long rowsPruned() {
        return metrics("rowsPruned").stream().mapToLong(m -> ((Counter) m).getCount()).sum();
    }

    /** Returns {@link #rowsPruned} before the facts that are sent slowly until it grows. */
    static long pace() {
        prunedBefore = rowsPruned();
        paceFromNs = System.nanoTime();
        isPaced = true;
        return prunedBefore;
    }

    /** Sends all facts at once. */
    static void stopPacing() {
        isPaced = false;
    }

    static boolean isPaced() {
        return isPaced;
    }

    /**
     * Delays a fact of the second half of each of two source subtasks.
     *
     * @param each number of facts of which one is delayed
     * @param isEnough whether no further fact is delayed
     */
    static void pace(long number, long facts, int each, BooleanSupplier isEnough)
            throws InterruptedException {
        if (isPaced && number % (facts / 2) > facts / 4 && number % each == 0) {
            Thread.sleep(1);
            isPaced = !isEnough.getAsBoolean() && System.nanoTime() - paceFromNs < LONGEST_PACE_NS;
        }
    }

    /** Whether a filter has dropped a fact since {@link #pace()}. */
    static boolean isPruned() {
        return rowsPruned() > prunedBefore;
    }
}
