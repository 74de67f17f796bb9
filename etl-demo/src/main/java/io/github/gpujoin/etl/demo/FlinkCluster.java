// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.demo;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Flink cluster of processes, run through {@code bin/cluster}. Not thread-safe. */
final class FlinkCluster implements AutoCloseable {

    private static final long COMMAND_SECONDS = 240;
    private static final Pattern ADDRESS = Pattern.compile("(?m)^address +(http://\\S+)$");

    private final Path script;
    private final Path folder;
    private URI address;

    /**
     * Starts nothing yet.
     *
     * @param script bin/cluster
     * @param folder of its state and logs
     */
    FlinkCluster(Path script, Path folder) {
        this.script = script;
        this.folder = folder;
    }

    void start(int taskManagers, int slots) throws IOException {
        String output =
                run(
                        "start",
                        "--port",
                        "0",
                        "--taskmanagers",
                        Integer.toString(taskManagers),
                        "--slots",
                        Integer.toString(slots));
        Matcher matcher = ADDRESS.matcher(output);
        if (!matcher.find()) {
            throw new IOException("bin/cluster printed no address: output=" + output.strip());
        }
        address = URI.create(matcher.group(1));
    }

    /** Of the REST endpoint. */
    URI address() {
        return address;
    }

    /** Kills a TaskManager as a crash would, and adds another one. */
    void replaceTaskManager(int number) throws IOException {
        run("kill-taskmanager", Integer.toString(number));
        run("start-taskmanager");
    }

    private String run(String command, String... arguments) throws IOException {
        List<String> line =
                new ArrayList<>(
                        List.of(script.toString(), command, "--state-dir", folder.toString()));
        line.addAll(List.of(arguments));
        Path output = Files.createTempFile("etl-demo-", ".out");
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(line)
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile());
            builder.environment()
                    .put("JAVA_TOOL_OPTIONS", String.join(" ", JavaCommand.SHORT_LIVED));
            Process process = builder.start();
            boolean hasEnded = process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS);
            String text = Files.readString(output);
            if (!hasEnded || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException(
                        "bin/cluster %s failed: output=%s".formatted(command, text.strip()));
            }
            return text;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted: command=" + line, e);
        } finally {
            Files.delete(output);
        }
    }

    @Override
    public void close() throws IOException {
        run("stop");
    }
}
