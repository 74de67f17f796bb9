// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gpujoin.etl.job.EtlPipeline;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Reads the metrics of a job from Flink's REST endpoint. Each subtask of each vertex has an object
 * with its TaskManager and the metrics that exist, under short names. Thread-safe.
 */
final class JobMetrics {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Metrics of tasks, and their names on the page. */
    private static final Map<String, String> OF_TASKS =
            Map.of(
                    "numRecordsInPerSecond", "rowsInPerSecond",
                    "numRecordsOutPerSecond", "rowsOutPerSecond",
                    "busyTimeMsPerSecond", "busyMsPerSecond",
                    "backPressuredTimeMsPerSecond", "backpressuredMsPerSecond");

    /** Metrics of operators. */
    private static final Map<String, String> OF_OPERATORS =
            Map.of(
                    "pendingRecords",
                    "lagRows",
                    EtlPipeline.JOIN + ".numRecordsOutPerSecond",
                    "joinedPerSecond",
                    EtlPipeline.JOIN + ".gpuJoin.buildRows",
                    "buildRows",
                    EtlPipeline.JOIN + ".gpuJoin.waitingProbeChunks",
                    "waitingChunks",
                    EtlPipeline.JOIN + ".gpuJoin.buildSkew",
                    "buildSkew",
                    EtlPipeline.JOIN + ".gpuJoin.heavyHitterShare",
                    "heavyHitterShare",
                    EtlPipeline.JOIN + ".gpuJoin.engine",
                    "engine");

    private final URI cluster;
    private final String job;
    private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();

    /**
     * @param cluster its REST endpoint
     * @param job its id
     */
    JobMetrics(URI cluster, String job) {
        this.cluster = cluster;
        this.job = job;
    }

    /** Returns state, restarts, checkpoints and all vertices at this moment. */
    ObjectNode read() throws IOException, InterruptedException {
        JsonNode details = get("");
        ObjectNode result = JSON.createObjectNode();
        result.put("state", details.path("state").asText());
        result.set("checkpoints", checkpoints());
        ArrayNode vertices = result.putArray("vertices");
        for (JsonNode vertex : details.path("vertices")) {
            vertices.add(vertex(vertex));
        }
        return result;
    }

    private ObjectNode checkpoints() throws IOException, InterruptedException {
        JsonNode all = get("/checkpoints");
        ObjectNode result = JSON.createObjectNode();
        result.set("completed", all.path("counts").path("completed"));
        result.set("failed", all.path("counts").path("failed"));
        result.set("restored", all.path("counts").path("restored"));
        result.set("lastMs", all.path("latest").path("completed").path("end_to_end_duration"));
        return result;
    }

    private ObjectNode vertex(JsonNode vertex) throws IOException, InterruptedException {
        String path = "/vertices/" + vertex.path("id").asText();
        ObjectNode result = JSON.createObjectNode();
        result.put("name", vertex.path("name").asText());
        ArrayNode subtasks = result.putArray("subtasks");
        for (JsonNode subtask : get(path).path("subtasks")) {
            ObjectNode row = subtasks.addObject();
            row.put("taskManager", subtask.path("taskmanager-id").asText());
            row.put("state", subtask.path("status").asText());
        }
        metrics(path).forEach((id, value) -> put(subtasks, id, value));
        return result;
    }

    /** Values of those metrics of a vertex that the page shows, by Flink's ids. */
    private Map<String, String> metrics(String path) throws IOException, InterruptedException {
        String ids =
                StreamSupport.stream(get(path + "/metrics").spliterator(), false)
                        .map(metric -> metric.path("id").asText())
                        .filter(id -> !shortName(id).isEmpty())
                        .collect(Collectors.joining(","));
        Map<String, String> values = new TreeMap<>();
        if (!ids.isEmpty()) {
            String query = "/metrics?get=" + URLEncoder.encode(ids, StandardCharsets.UTF_8);
            for (JsonNode metric : get(path + query)) {
                values.put(metric.path("id").asText(), metric.path("value").asText());
            }
        }
        return values;
    }

    /** Ids are {@code subtask.metric} of tasks, {@code subtask.operator.metric} of operators. */
    private static void put(ArrayNode subtasks, String id, String value) {
        int subtask = Integer.parseInt(id.substring(0, id.indexOf('.')));
        if (subtasks.get(subtask) instanceof ObjectNode row) {
            try {
                row.put(shortName(id), Double.parseDouble(value));
            } catch (NumberFormatException e) {
                row.put(shortName(id), value);
            }
        }
    }

    /** Returns the name on the page, or an empty text for a metric that it does not show. */
    static String shortName(String id) {
        String metric = id.substring(id.indexOf('.') + 1);
        if (OF_TASKS.containsKey(metric)) {
            return OF_TASKS.get(metric);
        }
        if (metric.endsWith(".pendingRecords")) {
            return OF_OPERATORS.get("pendingRecords");
        }
        return OF_OPERATORS.getOrDefault(metric, "");
    }

    private JsonNode get(String path) throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(cluster.resolve("/jobs/" + job + path))
                        .timeout(TIMEOUT)
                        .build();
        HttpResponse<byte[]> response = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() != 200) {
            throw new IOException(
                    "Flink answered %d: path=/jobs/%s%s"
                            .formatted(response.statusCode(), job, path));
        }
        return JSON.readTree(response.body());
    }
}
