// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.IOMetrics;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What Flink's own metrics, and so the Web UI, tell of a job with a join. */
@Timeout(120)
class RowMetricsITCase {

    private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .setConfiguration(METRICS.addToConfiguration(new Configuration()))
                            .build());

    private static final int PARALLELISM = 2;
    private static final long FACTS = 1_000_000;
    private static final long DIMENSION_ROWS = 1_000;

    /** Key, number and timestamp. */
    private static final long FACT_BYTES = 24;

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;
        public long number;

        public Numbered() {}
    }

    @ParameterizedTest(name = "partitioned={0}, transport={1}, columns={2}")
    @CsvSource({
        "false,flink,false",
        "false,flink,true",
        "true,flink,false",
        "true,shm,false",
        "false,shm,false"
    })
    void shouldCountRowsAndTheirBytes(
            boolean partitioned,
            String transport,
            boolean columns,
            @InjectMiniCluster MiniCluster cluster)
            throws Exception {
        String name = "metrics-" + partitioned + transport + columns;
        JobGraph job = job(name, partitioned, transport, columns);
        cluster.executeJobBlocking(job);

        AccessExecutionGraph graph = cluster.getExecutionGraph(job.getJobID()).get();
        assertThat(sum(graph, "facts", IOMetrics::getNumRecordsOut)).isEqualTo(FACTS);
        assertThat(sum(graph, "facts", IOMetrics::getNumBytesOut))
                .isBetween(FACTS * FACT_BYTES, FACTS * FACT_BYTES * 11 / 10);
        assertThat(sum(graph, "dimension", IOMetrics::getNumRecordsOut)).isEqualTo(DIMENSION_ROWS);
        long copies = partitioned ? 1 : PARALLELISM;
        assertThat(sum(graph, name + "-star", IOMetrics::getNumRecordsIn))
                .isEqualTo(FACTS + copies * DIMENSION_ROWS);
        assertThat(sum(graph, name + "-star", IOMetrics::getNumBytesIn))
                .isBetween(FACTS * FACT_BYTES, FACTS * FACT_BYTES * 11 / 10);
        assertThat(sum(graph, name + "-star", IOMetrics::getNumRecordsOut)).isEqualTo(FACTS);

        assertThat(ofOperator(job, name + "-star", "numRecordsIn"))
                .isEqualTo(FACTS + copies * DIMENSION_ROWS);
        assertThat(ofOperator(job, name + "-star", "numRecordsOut")).isEqualTo(FACTS);
        assertThat(ofOperator(job, "pack facts", "numRecordsOut")).isEqualTo(FACTS);
        if (partitioned) {
            assertThat(ofOperator(job, "send facts", "numRecordsIn")).isEqualTo(FACTS);
            assertThat(ofOperator(job, "send facts", "numRecordsOut")).isEqualTo(FACTS);
        }
    }

    private static long sum(AccessExecutionGraph graph, String name, ToLongFunction<IOMetrics> of) {
        long sum = 0;
        for (AccessExecutionJobVertex vertex : graph.getVerticesTopologically()) {
            if (vertex.getName().contains(name)) {
                for (var subtask : vertex.getTaskVertices()) {
                    sum += of.applyAsLong(subtask.getCurrentExecutionAttempt().getIOMetrics());
                }
            }
        }
        return sum;
    }

    private static long ofOperator(JobGraph job, String operator, String counter) {
        long sum = 0;
        for (Map.Entry<MetricGroup, Map<String, Metric>> group :
                METRICS.getMetricsByGroup().entrySet()) {
            Map<String, String> variables = group.getKey().getAllVariables();
            if (operator.equals(variables.get("<operator_name>"))
                    && job.getJobID().toString().equals(variables.get("<job_id>"))
                    && group.getValue().get(counter) instanceof Counter count) {
                sum += count.getCount();
            }
        }
        return sum;
    }

    private static JobGraph job(
            String name, boolean partitioned, String transport, boolean columns) {
        Configuration config = new Configuration();
        config.set(GpuJoinOptions.TRANSPORT, transport);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(PARALLELISM);
        StarJoin<Numbered> join =
                StarJoin.of(numbers(env, FACTS, "facts"))
                        .select("number")
                        .dimension(
                                numbers(env, DIMENSION_ROWS, "dimension"),
                                d -> {
                                    d.on("key", "key").select("number AS match");
                                    if (partitioned) {
                                        d.partitioned();
                                    }
                                })
                        .uid(name + "-star");
        DataStream<?> results = columns ? join.toChunks() : join.toRows();
        results.rebalance().sinkTo(new DiscardingSink<>());
        return env.getStreamGraph().getJobGraph();
    }

    private static DataStream<Numbered> numbers(
            StreamExecutionEnvironment env, long count, String name) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        name)
                .map(
                        n -> {
                            Numbered row = new Numbered();
                            row.key = n % DIMENSION_ROWS;
                            row.number = n;
                            return row;
                        })
                .returns(TypeInformation.of(Numbered.class));
    }
}
