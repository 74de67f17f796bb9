// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.MetricLevel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.YamlParserUtils;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The dashboard and the reporter as they are delivered, with a job that does not end. */
@Timeout(120)
class DashboardITCase {

    private static final Path DEPLOY = Path.of("..", "deploy");
    private static final Pattern METRIC = Pattern.compile("\\bflink_\\w+");
    private static final Duration SCRAPE_INTERVAL = Duration.ofMillis(200);

    private static final int PORT = freePort();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    () ->
                            new MiniClusterResourceConfiguration.Builder()
                                    .setConfiguration(reporterAsDelivered())
                                    .setNumberTaskManagers(1)
                                    .setNumberSlotsPerTaskManager(2)
                                    .build());

    private static Configuration reporterAsDelivered() {
        Configuration config = new Configuration();
        try {
            YamlParserUtils.loadYamlFile(DEPLOY.resolve("conf/metrics.yaml").toFile())
                    .forEach((key, value) -> config.setString(key, String.valueOf(value)));
        } catch (Exception e) {
            throw new IllegalStateException("the delivered configuration is read", e);
        }
        config.setString("metrics.reporter.prometheus.port", String.valueOf(PORT));
        return config;
    }

    @Test
    void shouldReportTheMetricsOfTheDashboardAndNoOtherOfTheJoin() throws Exception {
        Set<String> named = metricsOfTheDashboard();
        assertThat(named).hasSizeGreaterThan(20);
        JobClient job = startEndlessJob(MetricLevel.ESSENTIAL);
        try {
            Set<String> missing = new TreeSet<>(named);
            String page =
                    scrapeUntil(
                            scraped -> {
                                missing.removeAll(namesIn(withoutJob(scraped, MetricLevel.ALL)));
                                return missing.isEmpty();
                            });
            assertThat(missing).isEmpty();
            assertThat(metricsOfTheJoin(page, MetricLevel.ESSENTIAL))
                    .isNotEmpty()
                    .isSubsetOf(named);
        } finally {
            job.cancel().get();
        }
    }

    @Test
    void shouldReportRowsOfEachDimensionWhereAllMetricsAreAskedFor() throws Exception {
        JobClient job = startEndlessJob(MetricLevel.ALL);
        try {
            Pattern rows =
                    Pattern.compile("gpuJoin_dimension_rows\\{.*dimension=\"shop\".*} [1-9]");
            assertThat(scrapeUntil(page -> rows.matcher(page).find()))
                    .contains("gpuJoin_largestPartitionRows");
        } finally {
            job.cancel().get();
        }
    }

    private static Set<String> metricsOfTheDashboard() throws IOException {
        String json = Files.readString(DEPLOY.resolve("grafana/gpu-join.json"));
        return new TreeSet<>(namesIn(json));
    }

    private static Set<String> namesIn(String text) {
        return METRIC.matcher(text).results().map(MatchResult::group).collect(Collectors.toSet());
    }

    /**
     * Metrics in the group {@code gpuJoin} of the job of a level; another may not have ended. The
     * name of the engine is no number, so no panel shows it.
     */
    /** Metrics of a job that has just ended are reported for a while. */
    private static String withoutJob(String page, MetricLevel level) {
        return page.lines()
                .filter(line -> !line.contains("job_name=\"" + level + "\""))
                .collect(Collectors.joining("\n"));
    }

    private static Set<String> metricsOfTheJoin(String page, MetricLevel level) {
        return page.lines()
                .filter(line -> line.contains("job_name=\"" + level + "\""))
                .flatMap(line -> namesIn(line).stream())
                .filter(name -> name.contains("_gpuJoin_") && !name.endsWith("_engine"))
                .collect(Collectors.toSet());
    }

    /** One dimension is partitioned, with rings, and one has versions; facts do not end. */
    private static JobClient startEndlessJob(MetricLevel level) throws Exception {
        Configuration config = new Configuration();
        config.set(GpuJoinOptions.METRICS, level);
        config.set(GpuJoinOptions.TRANSPORT, "shm");
        config.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.AUTO);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(2);
        StarJoin.of(rows(env, Long.MAX_VALUE))
                .select("value")
                .dimension(rows(env, 1_000), d -> d.named("shop").on("key", "key").partitioned())
                .dimension(rows(env, 1_000), d -> d.named("day").on("key", "key"))
                .toRows()
                .sinkTo(new DiscardingSink<>());
        StarJoin.of(rows(env, Long.MAX_VALUE))
                .select("value")
                .dimension(rows(env, 1_000), d -> d.named("price").on("key", "key").versioned())
                .uid("versions")
                .toRows()
                .sinkTo(new DiscardingSink<>());
        return env.executeAsync(level.name());
    }

    private static DataStream<Row> rows(StreamExecutionEnvironment env, long count) {
        TypeInformation<Row> type =
                Types.ROW_NAMED(new String[] {"key", "value"}, Types.LONG, Types.LONG);
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.<Long>forMonotonousTimestamps()
                                .withTimestampAssigner((number, ignored) -> number),
                        "numbers")
                .map(n -> Row.of(n % 1_000, n))
                .returns(type);
    }

    /** Asks the reporter until its page passes; the test's time bounds it. */
    private static String scrapeUntil(Predicate<String> passes) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://localhost:" + PORT + "/metrics")).build();
        while (true) {
            String page = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
            if (passes.test(page)) {
                return page;
            }
            Thread.sleep(SCRAPE_INTERVAL.toMillis());
        }
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
