// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.histogram;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.histogram.Histogram;
import io.github.gpujoin.flink.api.explain.PartitionSummary;
import io.github.gpujoin.flink.runtime.histogram.GlobalHistogram.Sum;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.ExecutionGraphID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class HistogramExchangeTest {

    private static final long NEVER_MS = 600_000;
    private static final int PARTITIONS = 16;

    private final ExecutionGraphID graph = new ExecutionGraphID();
    private final JobVertexID join = new JobVertexID();
    private final HistogramExchange exchange = new HistogramExchange("join", NEVER_MS);

    private ExecutionAttemptID id(int subtask, int attempt) {
        return new ExecutionAttemptID(graph, new ExecutionVertexID(join, subtask), attempt);
    }

    private HistogramReport report(
            int subtask, int attempt, String process, int firstPartition, long... rows) {
        long sum = LongStream.of(rows).sum();
        return new HistogramReport(id(subtask, attempt), process, firstPartition, rows, 16 * sum);
    }

    private void start(int subtask, int attempt) {
        exchange.started(subtask, id(subtask, attempt));
    }

    @Test
    void shouldAnswerEverySubtaskWithTheSumsOfItsProcessOnceAllHaveReported() {
        for (int subtask = 0; subtask < 3; subtask++) {
            start(subtask, 0);
        }
        CompletableFuture<GlobalHistogram> first = exchange.report(report(0, 0, "a", 0, 1, 0), 3);
        CompletableFuture<GlobalHistogram> second = exchange.report(report(1, 0, "b", 2, 20, 5), 3);
        assertThat(first).isNotDone();
        CompletableFuture<GlobalHistogram> third = exchange.report(report(2, 0, "a", 4, 3), 3);

        Sum job = new Sum(3, 29, 29 * 16);
        PartitionSummary partitions = new PartitionSummary(4, 5, 20, 2);
        Sum ofA = new Sum(2, 4, 4 * 16);
        assertThat(first.join()).isEqualTo(new GlobalHistogram(job, ofA, partitions));
        assertThat(third.join()).isEqualTo(first.join());
        assertThat(second.join())
                .isEqualTo(new GlobalHistogram(job, new Sum(1, 25, 25 * 16), partitions));
    }

    @Test
    void shouldAnswerARepeatedReportOfAFinishedExchange() {
        start(0, 0);
        start(1, 0);
        exchange.report(report(0, 0, "a", 0, 4), 2);
        exchange.report(report(1, 0, "a", 1), 2);

        GlobalHistogram again = exchange.report(report(0, 0, "a", 0, 4), 2).join();

        assertThat(again.process()).isEqualTo(new Sum(2, 4, 64));
    }

    @Test
    void shouldAskToRepeatAReportThatPrecedesTheStartOfItsAttempt() {
        assertThat(exchange.report(report(0, 0, "a", 0, 4), 1).join()).isNull();
        start(0, 0);
        assertThat(exchange.report(report(0, 0, "a", 0, 4), 1).join().job().rows()).isEqualTo(4);
    }

    @Test
    void shouldAskToRepeatAReportThatWaitsTooLong() {
        HistogramExchange prompt = new HistogramExchange("join", 1);
        prompt.started(0, id(0, 0));
        assertThat(prompt.report(report(0, 0, "a", 0, 4), 2).join()).isNull();
    }

    @Test
    void shouldReportOnlyThePartitionsOfASubtask() {
        Histogram rows = new Histogram(PARTITIONS);
        for (int partition = 0; partition < PARTITIONS; partition++) {
            rows.add(partition, 100 + partition);
        }
        HistogramReport report =
                HistogramReport.of(id(0, 0), "a", KeyGroupRange.of(4, 6), rows, 5_000);
        assertThat(report.rows()).containsExactly(104, 105, 106);
        Histogram sum = new Histogram(PARTITIONS);
        report.addTo(sum);
        assertThat(sum.rows(5)).isEqualTo(105);
        assertThat(sum.partitionedRows()).isEqualTo(315);
    }

    @Test
    void shouldPassAnAnswerThroughAClassOfFlink() {
        GlobalHistogram answer =
                GlobalHistogram.byProcess(List.of(report(0, 0, "a", 3, 7, 1))).get("a");
        assertThat(GlobalHistogram.of(GlobalHistogram.toResponse(answer))).isEqualTo(answer);
        assertThat(GlobalHistogram.of(GlobalHistogram.toResponse(null))).isNull();
    }

    static LongStream seeds() {
        return LongStream.range(0, 300);
    }

    /** Subtasks fail and restart, and messages are late, repeated and of earlier attempts. */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldAddOneAttemptOfEachSubtaskWhateverFails(long seed) {
        new Schedule(new Random(seed)).run();
    }

    private final class Schedule {

        private final Random random;
        private final int parallelism;

        /** What the coordinator knows, by subtask. */
        private final Map<Integer, Integer> started = new HashMap<>();

        private final Map<Integer, HistogramReport> reported = new HashMap<>();
        private final int[] lastAttempt;
        private int answeredCount;

        Schedule(Random random) {
            this.random = random;
            this.parallelism = 1 + random.nextInt(5);
            this.lastAttempt = new int[parallelism];
        }

        void run() {
            for (int step = 0; step < 300; step++) {
                int subtask = random.nextInt(parallelism);
                switch (random.nextInt(12)) {
                    case 0 -> {
                        exchange.ended(subtask, random.nextInt(lastAttempt[subtask] + 1));
                        if (started.getOrDefault(subtask, -1) != lastAttempt[subtask]) {
                            continue;
                        }
                        exchange.ended(subtask, lastAttempt[subtask]);
                        forget(subtask);
                    }
                    case 1 -> {
                        exchange.reset(subtask);
                        forget(subtask);
                    }
                    case 2 -> {
                        if (random.nextInt(5) == 0) {
                            exchange.resetAll();
                            started.clear();
                            reported.clear();
                        }
                    }
                    case 3, 4, 5 -> startNext(subtask);
                    case 6 -> report(subtask, random.nextInt(lastAttempt[subtask] + 1));
                    default -> report(subtask, lastAttempt[subtask]);
                }
            }
            // From any state, the exchange ends once all subtasks run and report.
            for (int subtask = 0; subtask < parallelism; subtask++) {
                startNext(subtask);
            }
            for (int subtask = 0; subtask < parallelism; subtask++) {
                report(subtask, lastAttempt[subtask]);
            }
            assertThat(answeredCount).isPositive();
            assertThat(reported).hasSize(parallelism);
        }

        private void forget(int subtask) {
            started.remove(subtask);
            reported.remove(subtask);
        }

        private void startNext(int subtask) {
            if (!started.containsKey(subtask)) {
                started.put(subtask, ++lastAttempt[subtask]);
            }
            // Repeated for an attempt that runs.
            start(subtask, lastAttempt[subtask]);
        }

        private void report(int subtask, int attempt) {
            // Each attempt reads other rows, perhaps in another process.
            HistogramReport report =
                    HistogramExchangeTest.this.report(
                            subtask,
                            attempt,
                            "process " + (subtask + attempt) % 2,
                            2 * subtask,
                            100 * subtask + attempt,
                            7);
            boolean isCurrent = started.getOrDefault(subtask, -1) == attempt;
            if (isCurrent) {
                reported.put(subtask, report);
            }
            CompletableFuture<GlobalHistogram> answer = exchange.report(report, parallelism);

            if (!isCurrent) {
                assertThat(answer.join()).as("of an attempt that does not run").isNull();
            } else if (reported.size() < parallelism) {
                assertThat(answer).isNotDone();
            } else {
                answeredCount++;
                assertThat(answer.join().job()).isEqualTo(sumOf(r -> true));
                assertThat(answer.join().process())
                        .isEqualTo(sumOf(r -> r.process().equals(report.process())));
            }
        }

        private Sum sumOf(Predicate<HistogramReport> which) {
            List<HistogramReport> some = reported.values().stream().filter(which).toList();
            return new Sum(
                    some.size(),
                    some.stream().flatMapToLong(r -> LongStream.of(r.rows())).sum(),
                    some.stream().mapToLong(HistogramReport::bytes).sum());
        }
    }
}
