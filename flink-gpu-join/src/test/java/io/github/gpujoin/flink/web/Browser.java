// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.web;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.util.IOUtils;

/**
 * A headless Chromium with one page, driven by the DevTools protocol over a WebSocket. For one
 * thread.
 */
final class Browser implements AutoCloseable {

    private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
    private static final Pattern LISTENING = Pattern.compile("DevTools listening on ws://([^/]+)/");
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);
    private static final int POLLS_BETWEEN_CLICKS = 15;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Process process;
    private final WebSocket socket;
    private final Map<Integer, CompletableFuture<JsonNode>> answers;
    private int lastCommand;

    private Browser(
            Process process, WebSocket socket, Map<Integer, CompletableFuture<JsonNode>> answers) {
        this.process = process;
        this.socket = socket;
        this.answers = answers;
    }

    static boolean isInstalled() {
        return Files.isExecutable(CHROMIUM);
    }

    /**
     * Opens a window.
     *
     * @param profile an empty directory, which may be deleted after {@link #close()}
     */
    static Browser open(Path profile, int width, int height) throws Exception {
        Process process =
                new ProcessBuilder(
                                CHROMIUM.toString(),
                                "--headless=new",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--disable-dev-shm-usage",
                                "--no-first-run",
                                "--no-proxy-server",
                                "--remote-debugging-port=0",
                                "--window-size=" + width + "," + height,
                                "--user-data-dir=" + profile,
                                "about:blank")
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
        try {
            HttpClient client = HttpClient.newHttpClient();
            Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
            WebSocket socket =
                    client.newWebSocketBuilder()
                            .buildAsync(pageOf(client, address(process)), new Listener(answers))
                            .get(ANSWER_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            return new Browser(process, socket, answers);
        } catch (Throwable e) {
            process.destroyForcibly();
            throw e;
        }
    }

    /** Host and port of the protocol, which the browser says first of all; the rest is dropped. */
    private static String address(Process process) throws IOException {
        BufferedReader says =
                new BufferedReader(
                        new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
        StringBuilder said = new StringBuilder();
        for (String line = says.readLine(); line != null; line = says.readLine()) {
            said.append(line).append('\n');
            Matcher listening = LISTENING.matcher(line);
            if (listening.find()) {
                Thread drain = new Thread(() -> says.lines().forEach(rest -> {}), "browser-log");
                drain.setDaemon(true);
                drain.start();
                return listening.group(1);
            }
        }
        throw new IOException("the browser says where it listens: said=" + said);
    }

    private static URI pageOf(HttpClient client, String address) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://" + address + "/json/list")).build();
        while (true) {
            String targets = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
            for (JsonNode target : JSON.readTree(targets)) {
                if (target.path("type").asText().equals("page")) {
                    return URI.create(target.path("webSocketDebuggerUrl").asText());
                }
            }
            Thread.sleep(POLL_INTERVAL.toMillis());
        }
    }

    /** Puts messages together and hands answers to who waits for them; events are dropped. */
    private static final class Listener implements WebSocket.Listener {

        private final Map<Integer, CompletableFuture<JsonNode>> answers;
        private final StringBuilder message = new StringBuilder();

        private Listener(Map<Integer, CompletableFuture<JsonNode>> answers) {
            this.answers = answers;
        }

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            message.append(data);
            if (last) {
                try {
                    JsonNode node = JSON.readTree(message.toString());
                    CompletableFuture<JsonNode> waiting = answers.remove(node.path("id").asInt());
                    if (waiting != null) {
                        waiting.complete(node);
                    }
                } catch (IOException e) {
                    throw new IllegalStateException("a message is JSON", e);
                } finally {
                    message.setLength(0);
                }
            }
            from.request(1);
            return null;
        }
    }

    private JsonNode command(String method, Map<String, ?> parameters) throws Exception {
        int id = ++lastCommand;
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        answers.put(id, answer);
        String message =
                JSON.writeValueAsString(Map.of("id", id, "method", method, "params", parameters));
        socket.sendText(message, true).get(ANSWER_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        JsonNode node = answer.get(ANSWER_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        if (node.has("error")) {
            throw new IllegalStateException("the browser refuses: " + method + ": " + node);
        }
        return node.path("result");
    }

    void goTo(String address) throws Exception {
        command("Page.navigate", Map.of("url", address));
    }

    /** The value of an expression in the page. */
    JsonNode evaluate(String script) throws Exception {
        JsonNode result =
                command("Runtime.evaluate", Map.of("expression", script, "returnByValue", true));
        if (result.has("exceptionDetails")) {
            throw new IllegalStateException("the script fails: " + script + ": " + result);
        }
        return result.path("result").path("value");
    }

    /** Looks until the expression is true; the test's time bounds it. */
    void await(String condition) throws Exception {
        while (!holds(condition)) {
            Thread.sleep(POLL_INTERVAL.toMillis());
        }
    }

    /** While a page comes up, what an expression looks at may not be there yet. */
    private boolean holds(String condition) throws Exception {
        return evaluate(
                        "(() => { try { return Boolean("
                                + condition
                                + "); } catch (e) { return false; } })()")
                .asBoolean();
    }

    /** Clicks until the expression is true: an element that still moves may be missed. */
    void clickUntil(String selector, String condition) throws Exception {
        while (true) {
            click(selector);
            for (int poll = 0; poll < POLLS_BETWEEN_CLICKS; poll++) {
                if (holds(condition)) {
                    return;
                }
                Thread.sleep(POLL_INTERVAL.toMillis());
            }
        }
    }

    /** Presses and releases the mouse in the middle of the first element that there is. */
    private void click(String selector) throws Exception {
        await("document.querySelector(" + JSON.writeValueAsString(selector) + ")");
        JsonNode at =
                evaluate(
                        "(() => { const box = document.querySelector("
                                + JSON.writeValueAsString(selector)
                                + ").getBoundingClientRect(); return {x: box.x + box.width / 2,"
                                + " y: box.y + box.height / 2}; })()");
        for (String type : new String[] {"mousePressed", "mouseReleased"}) {
            command(
                    "Input.dispatchMouseEvent",
                    Map.of(
                            "type",
                            type,
                            "x",
                            at.path("x").asDouble(),
                            "y",
                            at.path("y").asDouble(),
                            "button",
                            "left",
                            "clickCount",
                            1));
        }
    }

    /** Types into what has the focus. */
    void type(String text) throws Exception {
        command("Input.insertText", Map.of("text", text));
    }

    /** The window as PNG. */
    byte[] screenshot() throws Exception {
        return Base64.getDecoder()
                .decode(command("Page.captureScreenshot", Map.of()).path("data").asText());
    }

    @Override
    public void close() throws Exception {
        socket.abort();
        process.destroy();
        if (!process.waitFor(5, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
        IOUtils.closeAllQuietly(process.getErrorStream());
    }
}
