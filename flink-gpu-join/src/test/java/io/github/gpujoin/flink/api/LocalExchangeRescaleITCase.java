// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A job in which one vertex, packers of facts or the join, is rescaled between two runs. */
@Timeout(120)
class LocalExchangeRescaleITCase {

    private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(4)
                            .setConfiguration(METRICS.addToConfiguration(new Configuration()))
                            .build());

    private static final int FACTS = 20_000;
    private static final int KEYS = 1_000;

    private static final Queue<String> RESULTS = new ConcurrentLinkedQueue<>();
    private static volatile boolean isSaved;

    @TempDir private Path savepoints;

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;
        public long number;

        public Numbered() {}
    }

    @BeforeEach
    void reset() {
        RESULTS.clear();
        isSaved = false;
    }

    @ParameterizedTest(name = "from {0}, packers to {1}, join to {2}")
    @CsvSource({"4,4,4", "4,2,4", "4,4,2", "2,4,2", "2,2,4"})
    void shouldGiveEveryResultOnceWhenOneVertexIsRescaled(
            int parallelism, int packers, int join, @InjectMiniCluster MiniCluster cluster)
            throws Exception {
        String savepoint = runUntilSaved(cluster, parallelism);
        long exchangedBefore = chunksExchangedLocally();

        JobGraph rescaled = graph(parallelism, Map.of());
        Map<String, String> overrides = new HashMap<>();
        overrides.put(vertex(rescaled, "facts"), String.valueOf(packers));
        overrides.put(vertex(rescaled, "star"), String.valueOf(join));
        rescaled = graph(parallelism, overrides);
        rescaled.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(savepoint));
        cluster.executeJobBlocking(rescaled);

        assertThat(RESULTS)
                .containsExactlyInAnyOrderElementsOf(
                        LongStream.range(0, FACTS).mapToObj(n -> n + "|" + n % KEYS).toList());
        assertThat(chunksExchangedLocally() > exchangedBefore).isEqualTo(packers == join);
    }

    private String runUntilSaved(MiniCluster cluster, int parallelism) throws Exception {
        JobGraph graph = graph(parallelism, Map.of());
        cluster.submitJob(graph).get();
        CommonTestUtils.waitForAllTaskRunning(cluster, graph.getJobID(), true);
        while (RESULTS.size() < KEYS) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        String savepoint = stop(cluster, graph.getJobID());
        cluster.requestJobResult(graph.getJobID()).get();
        isSaved = true;
        return savepoint;
    }

    /** Tasks of the dimension that just end would decline a savepoint. */
    private String stop(MiniCluster cluster, JobID job) throws Exception {
        long completed = completedCheckpoints(cluster, job);
        while (completedCheckpoints(cluster, job) < completed + 3) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
        return cluster.stopWithSavepoint(
                        job, savepoints.toUri().toString(), false, SavepointFormatType.CANONICAL)
                .get();
    }

    private static long completedCheckpoints(MiniCluster cluster, JobID job) throws Exception {
        return cluster.getExecutionGraph(job)
                .get()
                .getCheckpointStatsSnapshot()
                .getCounts()
                .getNumberOfCompletedCheckpoints();
    }

    private static String vertex(JobGraph graph, String namePart) {
        List<JobVertex> found =
                StreamSupport.stream(graph.getVertices().spliterator(), false)
                        .filter(vertex -> vertex.getName().contains(namePart))
                        .toList();
        assertThat(found).as("vertices of %s in %s", namePart, graph.getVertices()).hasSize(1);
        return found.get(0).getID().toHexString();
    }

    private static long chunksExchangedLocally() {
        return METRICS.getMetricsByGroup().values().stream()
                .map(metrics -> metrics.get("chunksExchangedLocally"))
                .filter(Objects::nonNull)
                .mapToLong(counter -> ((Counter) counter).getCount())
                .sum();
    }

    private static JobGraph graph(int parallelism, Map<String, String> overrides) {
        Configuration config = new Configuration();
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "1kb");
        config.set(PipelineOptions.PARALLELISM_OVERRIDES, overrides);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(parallelism);
        // Without checkpointing, the join would decline the savepoint.
        env.enableCheckpointing(100);
        StarJoin.of(numbers(env, FACTS, "facts").map(new SlowUntilSaved()).uid("pace"))
                .select("number")
                .dimension(
                        numbers(env, KEYS, "dimension"),
                        d -> d.on("key", "key").select("number AS match"))
                .uid("star")
                .toRows()
                .sinkTo(new Results())
                .uid("results");
        return env.getStreamGraph().getJobGraph();
    }

    private static DataStream<Numbered> numbers(
            StreamExecutionEnvironment env, int count, String name) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        name)
                .uid(name)
                .map(
                        n -> {
                            Numbered row = new Numbered();
                            row.key = n % KEYS;
                            row.number = n;
                            return row;
                        })
                .returns(TypeInformation.of(Numbered.class))
                .uid(name + "-rows");
    }

    /** Gives the join time to open, and the savepoint a place amid the facts. */
    private static final class SlowUntilSaved implements MapFunction<Numbered, Numbered> {
        private static final long serialVersionUID = 1L;

        private int records;

        @Override
        public Numbered map(Numbered value) throws Exception {
            records++;
            boolean awaitsSavepoint = !isSaved && records > KEYS;
            if (awaitsSavepoint || records % 20 == 0) {
                TimeUnit.MILLISECONDS.sleep(awaitsSavepoint ? 5 : 1);
            }
            return value;
        }
    }

    /** Keeps what it gets; no job that writes to it fails. */
    private static final class Results implements Sink<Row> {
        private static final long serialVersionUID = 1L;

        @Override
        public SinkWriter<Row> createWriter(WriterInitContext context) {
            return new SinkWriter<>() {
                @Override
                public void write(Row row, Context context) {
                    RESULTS.add(row.getField(0) + "|" + row.getField(1));
                }

                @Override
                public void flush(boolean endOfInput) {}

                @Override
                public void close() {}
            };
        }
    }
}
