// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.memory;

import io.github.gpujoin.systemtests.soak.MemorySample;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * A cluster of processes, run through {@code bin/cluster}, with one TaskManager of two slots and
 * Flink's default process size. Not thread-safe.
 */
public final class ProcessCluster implements AutoCloseable {

    public static final int PROCESS_MIB = 1728;

    /** Parts of the process as Flink computes them from its size. */
    private static final List<String> PROCESS =
            List.of(
                    "taskmanager.memory.process.size=" + PROCESS_MIB + "m",
                    "taskmanager.memory.task.heap.size=384m",
                    "taskmanager.memory.task.off-heap.size=0m",
                    "taskmanager.memory.managed.size=512m",
                    "taskmanager.memory.network.min=128m",
                    "taskmanager.memory.network.max=128m",
                    "taskmanager.memory.jvm-metaspace.size=256m");

    /** Of 200 KiB: two rings of 50 MiB take most of the 128 MiB that a join has of its slot. */
    private static final int RING_SLOTS = 256;

    /** A loaded machine may pause a process for longer than the default. */
    private static final String PEER_TIMEOUT = "10s";

    private static final Pattern ADDRESS = Pattern.compile("(?m)^address +(http://\\S+)$");

    private final Path root;
    private final Path folder;
    private final URI address;

    private ProcessCluster(Path root, Path folder, URI address) {
        this.root = root;
        this.folder = folder;
        this.address = address;
    }

    /**
     * @param root of the built project
     * @param folder for configuration, logs and state
     */
    public static ProcessCluster start(Path root, Path folder) throws IOException {
        script(root, folder, "stop", List.of());
        List<String> arguments = new ArrayList<>(List.of("--port", "0"));
        arguments.addAll(List.of("--taskmanagers", "1", "--slots", "2"));
        PROCESS.forEach(option -> arguments.addAll(List.of("-D", option)));
        String output = script(root, folder, "start", arguments);
        Matcher matcher = ADDRESS.matcher(output);
        if (!matcher.find()) {
            throw new IOException("The cluster did not start: output=" + output);
        }
        return new ProcessCluster(root, folder, URI.create(matcher.group(1)));
    }

    private static String script(Path root, Path folder, String command, List<String> arguments)
            throws IOException {
        List<String> line = new ArrayList<>();
        line.addAll(List.of(root.resolve("bin/cluster").toString(), command));
        line.addAll(List.of("--state-dir", folder.toString()));
        line.addAll(arguments);
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    /** Submits {@link LargeBuildSide}, in a class loader of its own, as Flink does for each job. */
    public JobClient submit(long rows, String transport) throws Exception {
        Configuration config = new Configuration();
        config.set(DeploymentOptions.TARGET, "remote");
        config.set(RestOptions.ADDRESS, address.getHost());
        config.set(RestOptions.PORT, address.getPort());
        config.set(PipelineOptions.CLASSPATHS, classPath());
        config.set(CoreOptions.DEFAULT_PARALLELISM, 1);
        config.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        Map.of(
                        "gpu-join.engine",
                        "cpu",
                        "gpu-join.transport",
                        transport,
                        "gpu-join.ring.slots",
                        String.valueOf(RING_SLOTS),
                        "gpu-join.ring.peer-timeout",
                        PEER_TIMEOUT,
                        "gpu-join.spill-delay",
                        "1s")
                .forEach(config::setString);
        StreamExecutionEnvironment env = new StreamExecutionEnvironment(config);
        LargeBuildSide.define(env, rows);
        return env.executeAsync("large build side");
    }

    /** Checks the results of a job that has ended. */
    public static void requireResults(JobClient job, long rows) throws Exception {
        long results =
                job.getJobExecutionResult()
                        .get()
                        .<Long>getAccumulatorResult(LargeBuildSide.RESULTS);
        if (results != LargeBuildSide.factCount(rows)) {
            throw new IllegalStateException(
                    "Wrong results: count=%d, expected=%d."
                            .formatted(results, LargeBuildSide.factCount(rows)));
        }
    }

    /** All processes are of this machine and read its files. */
    private List<String> classPath() throws MalformedURLException {
        return List.of(
                root.resolve("examples/target/star-etl.jar").toUri().toURL().toString(),
                getClass().getProtectionDomain().getCodeSource().getLocation().toString());
    }

    /** Returns the resident memory of the TaskManager's process. */
    public long residentBytes() throws IOException {
        return MemorySample.residentBytes(
                Files.readString(folder.resolve("pids/taskmanager-1")).strip());
    }

    @Override
    public void close() throws IOException {
        script(root, folder, "stop", List.of());
    }
}
