// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.kafka.AvroDecoding;
import io.github.gpujoin.benchmarks.kafka.KafkaJob;
import io.github.gpujoin.benchmarks.kafka.KafkaRun;
import io.github.gpujoin.benchmarks.kafka.OrdersTopic;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures how fast a job makes chunks of the Avro values of a topic. */
@Command(
        name = "kafka",
        description = {
            "Compares jobs that read Avro values of ten fields from a broker in this process.",
            "They read them as chunks, with Flink's Avro formats, and with these and a packer.",
            "rows_per_cpu_second is of the task's and the consumer's thread together: one core."
                    + " The garbage collector's threads are not counted. kafka-decode is of values in"
                    + " memory, without Kafka and without a job."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class KafkaCommand implements Callable<Integer> {

    /** Of 16,384 values in memory each; the fastest counts. */
    private static final int DECODE_ROUNDS = 200;

    @Spec private CommandSpec spec;

    @Option(names = "--records", description = "Records of the topic.")
    private int records = 2_000_000;

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(3);

    @Override
    public Integer call() throws Exception {
        if (records < 1) {
            throw new ParameterException(
                    spec.commandLine(), "--records must be at least 1: " + records);
        }
        PrintWriter err = spec.commandLine().getErr();
        Map<KafkaJob, List<KafkaRun>> runs = new EnumMap<>(KafkaJob.class);
        try (OrdersTopic topic = new OrdersTopic(records)) {
            for (int round = 0; round <= measurement.rounds(); round++) {
                for (KafkaJob job : KafkaJob.values()) {
                    System.gc();
                    KafkaRun run = KafkaRun.of(job, topic, records);
                    err.printf(
                            "round %d, %s: %.3f M rows/s%n",
                            round, job.label(), run.rows() * 1e3 / run.elapsedNs());
                    err.flush();
                    if (round > 0) {
                        runs.computeIfAbsent(job, any -> new ArrayList<>()).add(run);
                    }
                }
            }
        }
        Observations observations =
                new Observations(Bench.typed(spec), spec.commandLine().getOut());
        runs.forEach((job, all) -> report(job, all, observations));
        for (AvroDecoding decoding : AvroDecoding.values()) {
            observations.add(
                    "kafka-decode",
                    "contender",
                    decoding.label(),
                    "cpu_ns_per_row",
                    decoding.cpuNsPerValue(DECODE_ROUNDS));
        }
        if (measurement.json() != null) {
            observations.write(measurement.json());
        }
        return runs.values().stream().flatMap(List::stream).allMatch(KafkaRun::isRight) ? 0 : 1;
    }

    /** Reports the round of median CPU time. */
    private static void report(KafkaJob job, List<KafkaRun> all, Observations observations) {
        List<KafkaRun> sorted = new ArrayList<>(all);
        sorted.sort(Comparator.comparingDouble(KafkaRun::rowsPerCpuSecond));
        KafkaRun median = sorted.get(sorted.size() / 2);
        observations.add(
                "kafka",
                "contender",
                job.label(),
                "rows_per_cpu_second",
                median.rowsPerCpuSecond(),
                "task_cpu_ns_per_row",
                (double) median.taskCpuNs() / median.rows(),
                "consumer_cpu_ns_per_row",
                (double) median.fetcherCpuNs() / median.rows(),
                "rows_per_second",
                median.rows() * 1e9 / median.elapsedNs(),
                "answer",
                all.stream().allMatch(KafkaRun::isRight) ? "right" : "wrong");
    }
}
