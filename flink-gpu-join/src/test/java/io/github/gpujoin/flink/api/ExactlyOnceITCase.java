// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.RingSharing;
import io.github.gpujoin.flink.exchange.ring.InProcessProvider;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A job that fails after a checkpoint and starts over from it gives every result once. */
@ExtendWith(RegionLeakExtension.class)
class ExactlyOnceITCase {

    private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(2)
                            .setNumberSlotsPerTaskManager(2)
                            .setConfiguration(METRICS.addToConfiguration(new Configuration()))
                            .build());

    /** Of a thousand writes, so that each run meets a few of each kind. */
    private static final SimulatedFaults FAULTS =
            new SimulatedFaults(2, 10, 2, 2, 50, 2, 1_000_000);

    private static final int PARALLELISM = 3;

    /** Subtasks that send: of the facts and of the dimension. */
    private static final int SENDERS = 2 * PARALLELISM;

    private static final int FACTS = 20_000;
    private static final int KEYS = 1_000;

    /** Where the failure comes. */
    enum FailAt {
        LOAD,
        JOIN
    }

    private static final AtomicInteger CHECKPOINTS = new AtomicInteger();
    private static final AtomicBoolean FAILED = new AtomicBoolean();

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;
        public long number;

        public Numbered() {}
    }

    @BeforeEach
    void reset() {
        CHECKPOINTS.set(0);
        FAILED.set(false);
    }

    @ParameterizedTest(name = "fails in {0}, state={1}, partitioned={2}, unaligned={3}")
    @CsvSource({
        "LOAD,hashmap,true,false",
        "LOAD,hashmap,false,false",
        "JOIN,hashmap,false,false",
        "JOIN,hashmap,true,true",
        "LOAD,rocksdb,true,true",
        "JOIN,rocksdb,true,false",
        "JOIN,rocksdb,false,true"
    })
    void shouldGiveEveryResultOnce(
            FailAt failAt, String state, boolean partitioned, boolean unaligned) throws Exception {
        StreamExecutionEnvironment env = environment(state, unaligned);
        List<String> results = rows(join(env, failAt, partitioned, true));
        assertThat(FAILED).isTrue();
        assertThat(difference(results)).isEmpty();
    }

    private static List<String> rows(StarJoin<Numbered> join) throws Exception {
        List<String> results = new ArrayList<>();
        try (CloseableIterator<Row> rows = join.uid("join").toRows().executeAndCollect()) {
            rows.forEachRemaining(r -> results.add(r.getField(0) + "|" + r.getField(1)));
        }
        return results;
    }

    /** Rows that are missing (with a minus) or surplus (with a plus). */
    private static List<String> difference(List<String> results) {
        Map<String, Integer> counts = new TreeMap<>();
        results.forEach(row -> counts.merge(row, 1, Integer::sum));
        for (long fact = 0; fact < FACTS; fact++) {
            counts.merge(fact + "|" + fact % KEYS, -1, Integer::sum);
            counts.merge(fact + "|" + (fact % KEYS + KEYS), -1, Integer::sum);
        }
        counts.values().removeIf(count -> count == 0);
        return counts.entrySet().stream()
                .map(row -> (row.getValue() < 0 ? "-" : "+") + row.getKey())
                .toList();
    }

    private static long throughRings() {
        return METRICS.getMetricsByGroup().values().stream()
                .map(metrics -> metrics.get("chunksThroughRings"))
                .filter(Objects::nonNull)
                .mapToLong(counter -> ((Counter) counter).getCount())
                .sum();
    }

    /** The join has two subtasks in one TaskManager, and one in the other. */
    private static int sharedRings() {
        return METRICS.getMetricsByGroup().values().stream()
                .map(metrics -> metrics.get("sharedRings"))
                .filter(Objects::nonNull)
                .mapToInt(gauge -> (Integer) ((Gauge<?>) gauge).getValue())
                .max()
                .orElse(0);
    }

    @ParameterizedTest(name = "fails in {0}, unaligned={1}, transport={2}, sharing={3}")
    @CsvSource({
        "LOAD,false,shm,NONE",
        "JOIN,true,shm,NONE",
        "LOAD,true,in-process,NONE",
        "JOIN,false,in-process,NONE",
        "JOIN,true,in-process,NONE",
        "LOAD,true,shm,TASK_MANAGER",
        "JOIN,false,shm,TASK_MANAGER",
        "JOIN,true,shm,AUTO",
        "LOAD,false,in-process,TASK_MANAGER",
        "JOIN,true,in-process,AUTO"
    })
    void shouldEmitEveryResultOnceThroughRings(
            FailAt failAt, boolean unaligned, String transport, RingSharing sharing)
            throws Exception {
        long seed = System.nanoTime();
        long throughRingsBefore = throughRings();
        InProcessProvider.reset(FAULTS, seed);
        StreamExecutionEnvironment env = environment("hashmap", unaligned);
        env.configure(
                new Configuration()
                        .set(GpuJoinOptions.TRANSPORT, transport)
                        .set(GpuJoinOptions.RING_SHARING, sharing)
                        .set(GpuJoinOptions.RING_PEER_TIMEOUT, Duration.ofSeconds(1))
                        // A loaded machine can exceed that timeout, which is one more failure.
                        .set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 5)
                        .set(GpuJoinOptions.RING_OPEN_TIMEOUT, Duration.ofMinutes(1)));
        List<String> results = rows(join(env, failAt, true, true));

        assertThat(FAILED).isTrue();
        assertThat(difference(results)).as("seed=%d", seed).isEmpty();
        // The first chunk of a sender waits for its rings, before the failure and after it.
        assertThat(throughRings() - throughRingsBefore)
                .as("chunks through rings")
                .isGreaterThanOrEqualTo(SENDERS);
        if (sharing != RingSharing.NONE) {
            assertThat(sharedRings()).as("one ring a TaskManager").isEqualTo(2);
        }
    }

    @ParameterizedTest(name = "fails in {0}, state={1}, unaligned={2}, partial={3}")
    @CsvSource({
        "JOIN,hashmap,false,true",
        "JOIN,hashmap,true,false",
        "LOAD,hashmap,false,true",
        "JOIN,rocksdb,true,true"
    })
    void shouldAddEveryFactToOneGroup(
            FailAt failAt, String state, boolean unaligned, boolean partial) throws Exception {
        GroupedJoin join =
                join(environment(state, unaligned), failAt, false, false)
                        .uid("join")
                        .groupBy("facts.key")
                        .count("n")
                        .sum("facts.number", "numbers");
        Map<Long, List<Long>> groups = new HashMap<>();
        int rowCount = 0;
        try (CloseableIterator<Row> rows =
                (partial ? join.toPartialRows() : join.toRows()).executeAndCollect()) {
            while (rows.hasNext()) {
                Row row = rows.next();
                rowCount++;
                groups.merge(
                        (Long) row.getField("key"),
                        List.of((Long) row.getField("n"), (Long) row.getField("numbers")),
                        (a, b) -> List.of(a.get(0) + b.get(0), a.get(1) + b.get(1)));
            }
        }
        Map<Long, List<Long>> expected = new HashMap<>();
        for (long key = 0; key < KEYS; key++) {
            long facts = FACTS / KEYS;
            long numbers = facts * key + KEYS * (facts * (facts - 1) / 2);
            expected.put(key, List.of(2 * facts, 2 * numbers));
        }
        assertThat(FAILED).isTrue();
        assertThat(groups).isEqualTo(expected);
        assertThat(partial || rowCount == KEYS).as("whole groups come once").isTrue();
    }

    private static StreamExecutionEnvironment environment(String state, boolean unaligned) {
        Configuration config = new Configuration();
        config.set(StateBackendOptions.STATE_BACKEND, state);
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.setString("restart-strategy.fixed-delay.delay", "10 ms");
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "1kb");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(PARALLELISM);
        env.enableCheckpointing(50);
        env.getCheckpointConfig().enableUnalignedCheckpoints(unaligned);
        return env;
    }

    private static StarJoin<Numbered> join(
            StreamExecutionEnvironment env, FailAt failAt, boolean partitioned, boolean selects) {
        DataStream<Numbered> dimension = numbers(env, 0, 2 * KEYS - 1, "dimension");
        DataStream<Numbered> facts = numbers(env, 0, FACTS - 1, "facts");
        dimension =
                dimension.map(new Gate(failAt == FailAt.LOAD, KEYS / 2)).returns(Numbered.class);
        facts = facts.map(new Gate(failAt == FailAt.JOIN, FACTS / 6)).returns(Numbered.class);
        StarJoin<Numbered> star = StarJoin.of(facts);
        if (selects) {
            star.select("number");
        }
        return star.dimension(
                dimension,
                d -> {
                    d.on("key", "key");
                    if (selects) {
                        d.select("number AS match");
                    }
                    if (partitioned) {
                        d.partitioned();
                    }
                });
    }

    private static DataStream<Numbered> numbers(
            StreamExecutionEnvironment env, long from, long to, String name) {
        return env.fromSource(
                        new NumberSequenceSource(from, to), WatermarkStrategy.noWatermarks(), name)
                .map(
                        n -> {
                            Numbered row = new Numbered();
                            row.key = n % KEYS;
                            row.number = n;
                            return row;
                        })
                .returns(TypeInformation.of(Numbered.class));
    }

    /**
     * Slows down after some records until a checkpoint covers them, fails once, and is fast from
     * then on.
     */
    private static final class Gate extends RichMapFunction<Numbered, Numbered>
            implements CheckpointListener {

        private static final long serialVersionUID = 1L;

        private final boolean fails;
        private final int afterRecords;
        private int records;

        Gate(boolean fails, int afterRecords) {
            this.fails = fails;
            this.afterRecords = afterRecords;
        }

        @Override
        public Numbered map(Numbered value) throws Exception {
            if (fails && !FAILED.get() && ++records > afterRecords / 2) {
                if (CHECKPOINTS.get() > 1 && FAILED.compareAndSet(false, true)) {
                    throw new IllegalStateException("a failure to recover from");
                }
                // Barriers pass between two records, never inside one.
                Thread.sleep(50);
            }
            return value;
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            if (fails && records > afterRecords / 2) {
                CHECKPOINTS.incrementAndGet();
            }
        }
    }
}
