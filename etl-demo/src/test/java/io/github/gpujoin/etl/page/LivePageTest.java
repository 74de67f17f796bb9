// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The page before a REST endpoint that answers as Flink 2.3 does. */
class LivePageTest {

    private static final Map<String, String> ANSWERS =
            Map.of(
                    "/jobs/j",
                            "{'state':'RUNNING','vertices':[{'id':'v','name':'enrich -> sink'}]}",
                    "/jobs/j/checkpoints",
                            "{'counts':{'completed':3,'failed':1,'restored':0},"
                                    + "'latest':{'completed':{'end_to_end_duration':12}}}",
                    "/jobs/j/vertices/v",
                            "{'subtasks':[{'taskmanager-id':'tm-1','status':'RUNNING'},"
                                    + "{'taskmanager-id':'tm-2','status':'RUNNING'}]}",
                    "/jobs/j/vertices/v/metrics",
                            "[{'id':'1.enrich.gpuJoin.engine'},{'id':'0.numRecordsInPerSecond'},{'id':'0.other'}]",
                    "/jobs/j/vertices/v/metrics?get=0.numRecordsInPerSecond",
                            "[{'id':'0.numRecordsInPerSecond','value':'12.5'},"
                                    + "{'id':'1.enrich.gpuJoin.engine','value':'cpu'}]");

    private final HttpClient http = HttpClient.newHttpClient();
    private HttpServer flink;
    private LivePage page;

    @BeforeEach
    void start() throws IOException {
        flink = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        flink.createContext(
                "/",
                exchange -> {
                    String path = exchange.getRequestURI().getPath();
                    boolean hasQuery = exchange.getRequestURI().getQuery() != null;
                    String key = hasQuery ? path + "?get=0.numRecordsInPerSecond" : path;
                    byte[] body =
                            ANSWERS.getOrDefault(key, "{}")
                                    .replace('\'', '"')
                                    .getBytes(StandardCharsets.UTF_8);
                    try (exchange) {
                        exchange.sendResponseHeaders(
                                ANSWERS.containsKey(key) ? 200 : 404, body.length);
                        exchange.getResponseBody().write(body);
                    }
                });
        flink.start();
        page = LivePage.start(0, address(flink), "j", () -> 99);
    }

    @AfterEach
    void stop() {
        page.close();
        flink.stop(0);
    }

    private static URI address(HttpServer server) {
        return URI.create("http://localhost:" + server.getAddress().getPort());
    }

    private HttpResponse<String> get(String path) throws Exception {
        return http.send(
                HttpRequest.newBuilder(page.address().resolve(path)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void shouldServeThePage() throws Exception {
        assertThat(get("/").body()).contains("<h2>Placement</h2>", "fetch(\"metrics\")");
        assertThat(get("/other").statusCode()).isEqualTo(404);
    }

    @Test
    void shouldCollectMetricsOfEachSubtask() throws Exception {
        JsonNode metrics = new ObjectMapper().readTree(get("/metrics").body());
        assertThat(metrics.path("state").asText()).isEqualTo("RUNNING");
        assertThat(metrics.path("committed").asLong()).isEqualTo(99);
        assertThat(metrics.at("/checkpoints/lastMs").asLong()).isEqualTo(12);
        JsonNode subtasks = metrics.at("/vertices/0/subtasks");
        assertThat(subtasks.at("/0/taskManager").asText()).isEqualTo("tm-1");
        assertThat(subtasks.at("/0/rowsInPerSecond").asDouble()).isEqualTo(12.5);
        assertThat(subtasks.at("/1/engine").asText()).isEqualTo("cpu");
    }

    @Test
    void shouldReportThatFlinkDoesNotAnswer() throws Exception {
        flink.stop(0);
        assertThat(get("/metrics").statusCode()).isEqualTo(503);
    }

    @Test
    void shouldKnowMetricsByTheirIds() {
        assertThat(JobMetrics.shortName("0.Source__orders.pendingRecords")).isEqualTo("lagRows");
        assertThat(JobMetrics.shortName("1.busyTimeMsPerSecond")).isEqualTo("busyMsPerSecond");
        assertThat(JobMetrics.shortName("1.enrich.gpuJoin.buildSkew")).isEqualTo("buildSkew");
        assertThat(JobMetrics.shortName("1.enrich.gpuJoin.unknown")).isEmpty();
        assertThat(JobMetrics.shortName("0.pack_facts.numRecordsOutPerSecond")).isEmpty();
    }
}
