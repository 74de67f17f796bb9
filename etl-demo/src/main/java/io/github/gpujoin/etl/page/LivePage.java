// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.page;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;

/**
 * Serves the page on the loopback interface: {@code /} is the page, {@code /metrics} the values
 * that it shows, as JSON.
 */
public final class LivePage implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpServer server;
    private final JobMetrics job;
    private final LongSupplier committed;

    private LivePage(HttpServer server, JobMetrics job, LongSupplier committed) {
        this.server = server;
        this.job = job;
        this.committed = committed;
    }

    /**
     * Starts the server.
     *
     * @param port 0 for a free one
     * @param cluster REST endpoint of Flink
     * @param job id of the job
     * @param committed number of orders with committed results; called in the server's thread
     */
    public static LivePage start(int port, URI cluster, String job, LongSupplier committed)
            throws IOException {
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        LivePage page = new LivePage(server, new JobMetrics(cluster, job), committed);
        server.createContext("/", page::sendPage);
        server.createContext("/metrics", page::sendMetrics);
        server.start();
        return page;
    }

    /** Of the page. */
    public URI address() {
        return URI.create("http://localhost:" + server.getAddress().getPort());
    }

    private void sendPage(HttpExchange exchange) throws IOException {
        if (!exchange.getRequestURI().getPath().equals("/")) {
            send(exchange, 404, "text/plain", "no such page".getBytes(StandardCharsets.UTF_8));
            return;
        }
        try (InputStream page = LivePage.class.getResourceAsStream("page.html")) {
            send(exchange, 200, "text/html; charset=utf-8", page.readAllBytes());
        }
    }

    private void sendMetrics(HttpExchange exchange) throws IOException {
        try {
            ObjectNode metrics = job.read();
            metrics.put("committed", committed.getAsLong());
            send(exchange, 200, "application/json", JSON.writeValueAsBytes(metrics));
        } catch (IOException e) {
            // Flink may be busy with a restart; the page asks again.
            byte[] message = String.valueOf(e.getMessage()).getBytes(StandardCharsets.UTF_8);
            send(exchange, 503, "text/plain; charset=utf-8", message);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            exchange.close();
        }
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] body)
            throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
