// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.LongStream;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Filters of facts in TaskManagers of one slot each. Facts have slots of their own, or share those
 * of the join, whose other subtask is in another TaskManager.
 */
@Timeout(180)
@ExtendWith(RegionLeakExtension.class)
class RemoteFactFiltersITCase extends FactFiltersScenario {

    private static final InMemoryReporter REPORTER = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension static final MiniClusterExtension CLUSTER = cluster(REPORTER, 4, 1);

    private static final long FACTS = 100_000;
    private static final int PACED_FACTS = 40;
    private static final long SHIFT_OF_ATTEMPT = 3;

    private static final ConcurrentLinkedQueue<Result> RESULTS = new ConcurrentLinkedQueue<>();

    private static volatile boolean failsOnce;
    private static volatile long prunedBefore;

    private record Result(int attempt, long number) {}

    @BeforeAll
    static void readMetrics() {
        read(REPORTER);
    }

    @BeforeEach
    void reset() {
        RESULTS.clear();
        failsOnce = false;
        prunedBefore = pace();
    }

    private static long fetchedFilterBytes() {
        return metrics("fetchedFilterBytes").stream()
                .mapToLong(metric -> (Long) ((Gauge<?>) metric).getValue())
                .sum();
    }

    private static boolean isInDimension(long key, int attempt) {
        return key % MATCHING == SHIFT_OF_ATTEMPT * attempt;
    }

    /** Slows the second half of the facts down until one is dropped; then may fail once. */
    private static class Pace extends RichMapFunction<Numbered, Numbered> {

        private transient int attempt;

        @Override
        public void open(OpenContext context) {
            attempt = getRuntimeContext().getTaskInfo().getAttemptNumber();
            if (attempt > 0) {
                prunedBefore = pace();
            }
        }

        @Override
        public Numbered map(Numbered fact) throws InterruptedException {
            boolean wasPaced = isPaced();
            pace(fact.number, FACTS, PACED_FACTS, FactFiltersScenario::isPruned);
            if (failsOnce && attempt == 0 && wasPaced && !isPaced()) {
                throw new IllegalStateException("The first attempt fails.");
            }
            return fact;
        }
    }

    private static class OfAttempt extends RichFilterFunction<Numbered> {
        @Override
        public boolean filter(Numbered row) {
            return isInDimension(row.key, getRuntimeContext().getTaskInfo().getAttemptNumber());
        }
    }

    private static class Collect extends RichMapFunction<Row, Row> {
        @Override
        public Row map(Row row) {
            int attempt = getRuntimeContext().getTaskInfo().getAttemptNumber();
            RESULTS.add(new Result(attempt, row.<Long>getFieldAs("number")));
            return row;
        }
    }

    private static SingleOutputStreamOperator<Numbered> numbers(
            StreamExecutionEnvironment env, long count, String slots) {
        return numbered(sequence(env, count).slotSharingGroup(slots));
    }

    private static void run(String key, boolean partitioned, boolean apart) throws Exception {
        Configuration options = new Configuration();
        options.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        options.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        options.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(options);
        env.setParallelism(2);
        DataStream<Numbered> facts =
                numbers(env, FACTS, apart ? "facts" : "default")
                        .map(new Pace())
                        .returns(TypeInformation.of(Numbered.class));
        DataStream<Numbered> dimension = numbers(env, KEYS, "default").filter(new OfAttempt());
        StarJoin.of(facts)
                .select("number")
                .dimension(
                        dimension,
                        d -> {
                            d.on(key, key).select("number AS row");
                            if (partitioned) {
                                d.partitioned();
                            } else {
                                d.replicated();
                            }
                        })
                .toRows()
                .map(new Collect())
                .returns(Types.ROW_NAMED(new String[] {"number", "row"}, Types.LONG, Types.LONG))
                .sinkTo(new DiscardingSink<>());
        env.execute();
    }

    private static void assertThatResultsAreRight(int attempt) {
        assertThat(RESULTS.stream().filter(r -> r.attempt() == attempt).map(Result::number))
                .containsExactlyInAnyOrderElementsOf(
                        LongStream.range(0, FACTS)
                                .filter(number -> isInDimension(key(number), attempt))
                                .boxed()
                                .toList());
    }

    @ParameterizedTest(name = "key={0} partitioned={1} apart={2}")
    @CsvSource({"key,false,true", "text,true,true", "key,true,false", "key,true,true"})
    void shouldFilterFactsByDimensionsInOtherTaskManagers(
            String key, boolean partitioned, boolean apart) throws Exception {
        long fetchedBefore = fetchedFilterBytes();

        run(key, partitioned, apart);

        assertThatResultsAreRight(0);
        assertThat(rowsPruned()).isGreaterThan(prunedBefore);
        assertThat(fetchedFilterBytes()).isGreaterThan(fetchedBefore);
    }

    /** The process of each fact has a subtask that knows the whole dimension. */
    @ParameterizedTest(name = "key={0}")
    @CsvSource({"key", "text"})
    void shouldFetchNothingThatIsThereByReference(String key) throws Exception {
        long fetchedBefore = fetchedFilterBytes();

        run(key, false, false);

        assertThatResultsAreRight(0);
        assertThat(rowsPruned()).isGreaterThan(prunedBefore);
        assertThat(fetchedFilterBytes()).isEqualTo(fetchedBefore);
    }

    /** A filter of the first attempt would drop all facts that have results in the second one. */
    @ParameterizedTest(name = "partitioned={0}")
    @CsvSource({"false", "true"})
    void shouldNotFilterByTheKeysOfAnEarlierAttempt(boolean partitioned) throws Exception {
        failsOnce = true;

        run("key", partitioned, true);

        assertThatResultsAreRight(1);
        assertThat(rowsPruned()).isGreaterThan(prunedBefore);
    }
}
