// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.cluster;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** What the REST endpoint tells of a cluster's only job and of the join in it. Not thread-safe. */
final class JoinJob {

    private static final String JOINED_ROWS = ".gpuJoin.joinedRows";
    private static final String MANAGER_PREFIX = "taskmanager-";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final URI address;
    private Optional<String> joinVertex = Optional.empty();

    JoinJob(URI address) {
        this.address = address;
    }

    /** Rows that the join has taken through its engine since its last start; 0 before it runs. */
    long joinedRows() {
        return joinVertex()
                .flatMap(vertex -> joinedRowsMetric(vertex).map(name -> sum(vertex, name)))
                .orElse(0L);
    }

    long completedCheckpoints() {
        return checkpoints("completed");
    }

    /** How many times the job was restored from a checkpoint. */
    long restoredCheckpoints() {
        return checkpoints("restored");
    }

    /** Number of the TaskManager that runs the first subtask of the join. */
    int taskManagerOfJoin() {
        JsonNode subtask = get(joinVertex().orElseThrow()).path("subtasks").path(0);
        String id = subtask.path("taskmanager-id").asText();
        if (!id.startsWith(MANAGER_PREFIX)) {
            throw new IllegalStateException("bin/cluster names the TaskManagers: id=" + id);
        }
        return Integer.parseInt(id.substring(MANAGER_PREFIX.length()));
    }

    /** Path of the vertex that has the join's metrics; none as long as none has. */
    private Optional<String> joinVertex() {
        if (joinVertex.isEmpty()) {
            joinVertex = jobPath().flatMap(this::findJoinVertex);
        }
        return joinVertex;
    }

    private Optional<String> findJoinVertex(String job) {
        for (JsonNode vertex : get(job).path("vertices")) {
            String path = job + "/vertices/" + vertex.path("id").asText();
            if (joinedRowsMetric(path).isPresent()) {
                return Optional.of(path);
            }
        }
        return Optional.empty();
    }

    private Optional<String> joinedRowsMetric(String vertex) {
        for (JsonNode metric : get(vertex + "/subtasks/metrics")) {
            String name = metric.path("id").asText();
            if (name.endsWith(JOINED_ROWS)) {
                return Optional.of(name);
            }
        }
        return Optional.empty();
    }

    private long sum(String vertex, String metric) {
        String name = URLEncoder.encode(metric, StandardCharsets.UTF_8).replace("+", "%20");
        return get(vertex + "/subtasks/metrics?agg=sum&get=" + name).path(0).path("sum").asLong();
    }

    private long checkpoints(String count) {
        return jobPath()
                .map(job -> get(job + "/checkpoints").path("counts").path(count).asLong())
                .orElse(0L);
    }

    private Optional<String> jobPath() {
        JsonNode jobs = get("/jobs").path("jobs");
        if (jobs.size() > 1) {
            throw new IllegalStateException("only one job runs on the cluster: jobs=" + jobs);
        }
        return jobs.isEmpty()
                ? Optional.empty()
                : Optional.of("/jobs/" + jobs.path(0).path("id").asText());
    }

    /** A missing node where the endpoint does not know of the resource yet. */
    private JsonNode get(String path) {
        try {
            HttpRequest request =
                    HttpRequest.newBuilder(URI.create(address + path))
                            .timeout(Duration.ofSeconds(20))
                            .build();
            HttpResponse<String> response =
                    http.send(request, HttpResponse.BodyHandlers.ofString());
            return response.statusCode() == 200
                    ? JSON.readTree(response.body())
                    : JSON.missingNode();
        } catch (IOException e) {
            throw new IllegalStateException("the REST endpoint does not answer: path=" + path, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted: path=" + path, e);
        }
    }
}
