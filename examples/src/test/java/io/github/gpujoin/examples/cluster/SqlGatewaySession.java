// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.cluster;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** A session of an SQL gateway, by its REST endpoint. Not thread-safe. */
final class SqlGatewaySession {

    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final long POLL_MS = 100;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final URI gateway;
    private final String session;

    private SqlGatewaySession(URI gateway) throws Exception {
        this.gateway = gateway;
        this.session =
                "/v3/sessions/" + post("/v3/sessions", Map.of()).path("sessionHandle").asText();
    }

    static SqlGatewaySession open(URI gateway) throws Exception {
        return new SqlGatewaySession(gateway);
    }

    /**
     * Executes a statement to its end.
     *
     * @return the fields of each row of the result, as JSON
     */
    List<String> execute(String statement) throws Exception {
        JsonNode operation = post(session + "/statements", Map.of("statement", statement));
        String next =
                "%s/operations/%s/result/0?rowFormat=JSON"
                        .formatted(session, operation.path("operationHandle").asText());
        List<String> rows = new ArrayList<>();
        long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
        while (!next.isEmpty()) {
            JsonNode page = send(HttpRequest.newBuilder(gateway.resolve(next)).GET());
            page.path("results")
                    .path("data")
                    .forEach(row -> rows.add(row.path("fields").toString()));
            next = page.path("nextResultUri").asText();
            if (System.nanoTime() > deadlineNs) {
                throw new IllegalStateException(
                        "The gateway does not finish the statement: seconds=%d, statement=%s, page=%s"
                                .formatted(TIMEOUT.toSeconds(), statement, page));
            }
            Thread.sleep(POLL_MS);
        }
        return rows;
    }

    private JsonNode post(String path, Map<String, String> body)
            throws IOException, InterruptedException {
        return send(
                HttpRequest.newBuilder(gateway.resolve(path))
                        .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body))));
    }

    private JsonNode send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<String> response =
                http.send(request.timeout(TIMEOUT).build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IllegalStateException(
                    "The gateway refuses a request: status=%d, uri=%s, answer=%s"
                            .formatted(response.statusCode(), response.uri(), response.body()));
        }
        return JSON.readTree(response.body());
    }
}
