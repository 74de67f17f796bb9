// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.cluster;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A session cluster of separate processes on this machine, run through {@code bin/cluster}. Not
 * thread-safe. Closing stops whatever is left of it; its logs stay in the state directory.
 */
final class LocalCluster implements AutoCloseable {

    private static final Path MODULE = Path.of("").toAbsolutePath();
    private static final String SCRIPT = MODULE.resolveSibling("bin/cluster").toString();
    private static final Duration COMMAND_TIMEOUT = Duration.ofMinutes(3);
    private static final Pattern PEAK = Pattern.compile("(?m)^VmHWM:\\s+(\\d+) kB$");
    private static final Pattern ADDRESS = Pattern.compile("(?m)^address +(http://\\S+)$");

    private final Path stateDirectory;
    private URI address;

    /** Starts nothing yet. */
    LocalCluster(Path stateDirectory) {
        this.stateDirectory = stateDirectory.toAbsolutePath();
    }

    /** What a command printed, errors included, and how it ended. */
    record Outcome(int exitStatus, String output) {}

    /**
     * Starts the cluster on a free port.
     *
     * @param options of its configuration, each as {@code key=value}
     */
    void start(int taskManagers, int slotsEach, String... options) {
        start(List.of(), taskManagers, slotsEach, options);
    }

    /** Starts the cluster with the jar in lib/ by which joins of SQL run as this project's. */
    void startForSql(int taskManagers, int slotsEach, String... options) {
        start(List.of("--sql"), taskManagers, slotsEach, options);
    }

    private void start(List<String> switches, int taskManagers, int slotsEach, String... options) {
        List<String> arguments = new ArrayList<>(switches);
        arguments.addAll(List.of("--port", "0"));
        arguments.addAll(List.of("--taskmanagers", String.valueOf(taskManagers)));
        arguments.addAll(List.of("--slots", String.valueOf(slotsEach)));
        for (String option : options) {
            arguments.addAll(List.of("-D", option));
        }
        String output = succeed("start", arguments.toArray(String[]::new));
        Matcher matcher = ADDRESS.matcher(output);
        if (!matcher.find()) {
            throw new IllegalStateException("bin/cluster start names the address: " + output);
        }
        address = URI.create(matcher.group(1));
    }

    /**
     * Starts an SQL gateway.
     *
     * @return address of its REST endpoint
     */
    URI startSqlGateway() {
        return URI.create(succeed("start-sql-gateway").strip());
    }

    /** Of the REST endpoint. */
    URI address() {
        return address;
    }

    /** Ends a TaskManager as a crash would. */
    void killTaskManager(int number) {
        succeed("kill-taskmanager", String.valueOf(number));
    }

    /** Adds a TaskManager; returns when it is registered. */
    void startTaskManager() {
        succeed("start-taskmanager");
    }

    /** Of a TaskManager's process. */
    long pid(int taskManager) throws IOException {
        Path file = stateDirectory.resolve("pids/taskmanager-" + taskManager);
        return Long.parseLong(Files.readString(file).strip());
    }

    /** Most memory that a TaskManager's process ever had, in bytes. */
    long peakResidentBytes(int taskManager) throws IOException {
        long pid = pid(taskManager);
        Matcher peak =
                PEAK.matcher(Files.readString(Path.of("/proc", String.valueOf(pid), "status")));
        if (!peak.find()) {
            throw new IllegalStateException("/proc/PID/status has no VmHWM: pid=" + pid);
        }
        return 1024 * Long.parseLong(peak.group(1));
    }

    /**
     * Starts Flink's client with a job; its output goes to {@code client.out}.
     *
     * @param options of the client, such as {@code -Dkey=value}
     */
    Process submit(List<String> options, String mainClass, Path jar, List<String> arguments)
            throws IOException {
        return submit(clientOutput(), options, mainClass, jar, arguments);
    }

    /**
     * The same.
     *
     * @param output of the client
     */
    Process submit(
            Path output, List<String> options, String mainClass, Path jar, List<String> arguments)
            throws IOException {
        List<String> all = new ArrayList<>(options);
        all.addAll(List.of("-c", mainClass, jar.toString()));
        all.addAll(arguments);
        return command("run", all).redirectOutput(output.toFile()).start();
    }

    Path clientOutput() {
        return stateDirectory.resolve("client.out");
    }

    /** Runs a command of the script to its end. */
    Outcome run(String command, String... arguments) {
        try {
            Path output = Files.createTempFile("cluster-", ".out");
            Process process =
                    command(command, List.of(arguments)).redirectOutput(output.toFile()).start();
            if (!process.waitFor(COMMAND_TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException(
                        "bin/cluster takes too long: command="
                                + command
                                + ", output="
                                + Files.readString(output));
            }
            String text = Files.readString(output);
            Files.delete(output);
            return new Outcome(process.exitValue(), text);
        } catch (IOException e) {
            throw new IllegalStateException("bin/cluster does not run: command=" + command, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted: command=" + command, e);
        }
    }

    private String succeed(String command, String... arguments) {
        Outcome outcome = run(command, arguments);
        if (outcome.exitStatus() != 0) {
            throw new IllegalStateException(
                    "bin/cluster fails: command=" + command + ", output=" + outcome.output());
        }
        return outcome.output();
    }

    private ProcessBuilder command(String command, List<String> arguments) throws IOException {
        Files.createDirectories(stateDirectory);
        List<String> line = new ArrayList<>();
        line.addAll(List.of(SCRIPT, command, "--state-dir", stateDirectory.toString()));
        line.addAll(arguments);
        return new ProcessBuilder(line).redirectErrorStream(true);
    }

    @Override
    public void close() {
        succeed("stop");
    }
}
