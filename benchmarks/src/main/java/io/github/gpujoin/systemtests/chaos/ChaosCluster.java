// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import io.github.gpujoin.systemtests.chaos.ConnectionProxy.Mode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.ShutdownHookUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session cluster of separate processes, run through {@code bin/cluster}, whose TaskManagers
 * reach the JobManager through a proxy. Closing resumes and stops all of it; logs stay in its
 * folder. Not thread-safe.
 */
final class ChaosCluster implements AutoCloseable {

    static final int HEARTBEAT_TIMEOUT_MS = 4_000;

    /** One slot each; one more than the job needs, so that it goes on while one is started anew. */
    private static final int TASK_MANAGERS = StarRowsJob.PARALLELISM + 1;

    /** Flink 2.3.0 keeps requesting partitions over a connection that was cut. */
    private static final String NO_REUSE =
            "taskmanager.network.tcp-connection.enable-reuse-across-jobs=false";

    /** For processes that live for seconds, in which compiling costs more than it gains. */
    private static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

    private static final long COMMAND_TIMEOUT_S = 240;

    /** Files that a process may have open when it is not hit. */
    private static final int DESCRIPTORS = 4_096;

    private static final Pattern ADDRESS = Pattern.compile("(?m)^address +(http://\\S+)$");

    private static final Logger LOG = LoggerFactory.getLogger(ChaosCluster.class);

    private final Path script;
    private final Path folder;
    private final ConnectionProxy proxy;

    /** Before the data port of each TaskManager; none unless all faults are wanted. */
    private final List<ConnectionProxy> dataProxies = new CopyOnWriteArrayList<>();

    private final URI address;
    private final Set<Long> paused = new HashSet<>();
    private final Set<Long> withoutDescriptors = new HashSet<>();

    /** Null unless all faults are wanted, as the disk. */
    private final Quorum quorum;

    private final SmallDisk disk;
    private final ExecutorService starter = Executors.newSingleThreadExecutor();
    private final Thread shutdownHook;
    private CompletableFuture<Void> replacements = CompletableFuture.completedFuture(null);

    private ChaosCluster(
            Path script,
            Path folder,
            ConnectionProxy proxy,
            URI address,
            Quorum quorum,
            SmallDisk disk) {
        this.script = script;
        this.folder = folder;
        this.proxy = proxy;
        this.address = address;
        this.quorum = quorum;
        this.disk = disk;
        this.shutdownHook = ShutdownHookUtil.addShutdownHook(this, "chaos", LOG);
    }

    /**
     * @param script {@code bin/cluster}
     * @param folder of configuration, logs and checkpoints
     * @param allFaults whether the JobManager can be killed and the disk filled, too
     */
    static ChaosCluster start(Path script, Path folder, boolean allFaults) throws IOException {
        int jobManagerPort = freePort();
        ConnectionProxy proxy = ConnectionProxy.to(jobManagerPort);
        Quorum quorum = null;
        SmallDisk disk = null;
        try {
            run(script, folder, List.of("stop"));
            Map<String, String> settings = new HashMap<>(settings(proxy.port(), jobManagerPort));
            if (allFaults) {
                Path files = folder.resolve("high-availability");
                FileUtils.deleteDirectory(files.toFile());
                quorum = Quorum.start(Files.createDirectories(files));
                disk = SmallDisk.mount(folder.resolve("disk"));
                settings.putAll(quorum.options(proxy.port()));
                settings.put("io.tmp.dirs", disk.folder().resolve("io").toString());
                settings.put(
                        "execution.checkpointing.dir",
                        disk.folder().resolve("checkpoints").toUri().toString());
            }
            List<String> arguments = new ArrayList<>(List.of("--port", "0", "--slots", "1"));
            arguments.addAll(
                    List.of("--taskmanagers", String.valueOf(allFaults ? 0 : TASK_MANAGERS)));
            settings.forEach((key, value) -> arguments.addAll(List.of("-D", key + "=" + value)));
            String output = run(script, folder, command("start", arguments));
            Matcher matcher = ADDRESS.matcher(output);
            if (!matcher.find()) {
                throw new IOException("bin/cluster start names the address: output=" + output);
            }
            ChaosCluster cluster =
                    new ChaosCluster(
                            script, folder, proxy, URI.create(matcher.group(1)), quorum, disk);
            for (int i = 0; allFaults && i < TASK_MANAGERS; i++) {
                cluster.startTaskManager();
            }
            return cluster;
        } catch (IOException e) {
            IOUtils.closeAllQuietly(proxy, quorum, disk);
            throw e;
        }
    }

    private static Map<String, String> settings(int proxyPort, int jobManagerPort) {
        return Map.of(
                "jobmanager.rpc.port", String.valueOf(proxyPort),
                "jobmanager.rpc.bind-port", String.valueOf(jobManagerPort),
                "heartbeat.interval", "500ms",
                "heartbeat.timeout", HEARTBEAT_TIMEOUT_MS + "ms",
                // The time after which a lost look-up, that is, a cut connection, is tried again.
                "pekko.lookup.timeout", "1s",
                "cluster.registration.error-delay", "500ms",
                "cluster.registration.max-timeout", "2s",
                "cluster.registration.refused-registration-delay", "500ms");
    }

    /** Free now; the JobManager takes it in a moment. */
    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** Of the REST endpoint, which the proxy does not stand before. */
    URI address() {
        return address;
    }

    /** Ends a TaskManager as a crash would, and starts another one meanwhile. */
    void kill(long pid) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
        paused.remove(pid);
        replacements = replacements.thenRunAsync(this::startTaskManager, starter);
    }

    private void startTaskManager() {
        List<String> command = new ArrayList<>(List.of("start-taskmanager"));
        if (quorum != null) {
            try {
                int port = freePort();
                ConnectionProxy before = ConnectionProxy.to(port);
                dataProxies.add(before);
                command.addAll(List.of("-D", "taskmanager.data.port=" + before.port()));
                command.addAll(List.of("-D", "taskmanager.data.bind-port=" + port));
                command.addAll(List.of("-D", NO_REUSE));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        runUnchecked(command);
    }

    /** Of all connections between TaskManagers but those of rings. */
    void dataConnections(Mode mode) {
        dataProxies.forEach(before -> before.set(mode));
    }

    /** Ends the JobManager as a crash would, and starts another one meanwhile. */
    void killJobManager() throws IOException {
        String pid = Files.readString(folder.resolve("pids/jobmanager")).strip();
        ProcessHandle process = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
        process.destroyForcibly();
        process.onExit().join();
        // Not behind TaskManagers that are being started: they wait for it.
        CompletableFuture<Void> successor =
                CompletableFuture.runAsync(() -> runUnchecked(List.of("start-jobmanager")));
        replacements = CompletableFuture.allOf(replacements, successor);
    }

    /** Lets a process open no more files than it has open. */
    void fillDescriptors(long pid) throws IOException {
        if (ProcessHandle.of(pid).isEmpty()) {
            return;
        }
        withoutDescriptors.add(pid);
        long open;
        try (Stream<Path> files = Files.list(Path.of("/proc", String.valueOf(pid), "fd"))) {
            open = files.count();
        }
        limitDescriptors(pid, open + ":");
    }

    void freeDescriptors(long pid) throws IOException {
        withoutDescriptors.remove(pid);
        if (ProcessHandle.of(pid).isPresent()) {
            limitDescriptors(pid, DESCRIPTORS + ":");
        }
    }

    private static void limitDescriptors(long pid, String limits) throws IOException {
        execute(List.of("prlimit", "--pid", String.valueOf(pid), "--nofile=" + limits));
    }

    void fillDisk() throws IOException {
        disk.fill();
    }

    void freeDisk() throws IOException {
        disk.free();
    }

    void pause(long pid) throws IOException {
        paused.add(pid);
        signal("STOP", pid);
    }

    void resume(long pid) throws IOException {
        signal("CONT", pid);
        paused.remove(pid);
    }

    /** Of all connections between TaskManagers and JobManager. */
    void connections(Mode mode) {
        proxy.set(mode);
    }

    /** Ends all faults; returns when as many TaskManagers are registered as at the start. */
    void heal() throws IOException {
        connections(Mode.FORWARD);
        dataConnections(Mode.FORWARD);
        for (long pid : List.copyOf(paused)) {
            resume(pid);
        }
        for (long pid : List.copyOf(withoutDescriptors)) {
            freeDescriptors(pid);
        }
        if (disk != null) {
            freeDisk();
        }
        replacements.join();
        run(
                script,
                folder,
                command("start", List.of("--taskmanagers", String.valueOf(TASK_MANAGERS))));
    }

    /** A process that is gone takes no signal, and needs none. */
    private static void signal(String name, long pid) throws IOException {
        if (ProcessHandle.of(pid).isPresent()) {
            execute(List.of("kill", "-" + name, String.valueOf(pid)));
        }
    }

    private void runUnchecked(List<String> command) {
        try {
            run(script, folder, command);
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    private static List<String> command(String name, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(name));
        command.addAll(arguments);
        return command;
    }

    private static String run(Path script, Path folder, List<String> command) throws IOException {
        List<String> line = new ArrayList<>(List.of(script.toString(), command.get(0)));
        line.addAll(List.of("--state-dir", folder.toString()));
        line.addAll(command.subList(1, command.size()));
        return execute(line);
    }

    /** Runs a command to its end; what it printed, errors included. */
    private static String execute(List<String> line) throws IOException {
        Path output = Files.createTempFile("chaos-", ".out");
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(line)
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile());
            builder.environment().put("JAVA_TOOL_OPTIONS", SHORT_LIVED);
            Process process = builder.start();
            boolean ended = process.waitFor(COMMAND_TIMEOUT_S, TimeUnit.SECONDS);
            String text = Files.readString(output);
            if (!ended) {
                process.destroyForcibly();
            }
            // A signal may find that its process has just gone.
            if (!ended || process.exitValue() != 0 && !line.get(0).equals("kill")) {
                throw new IOException(
                        "a command of the cluster ends in time and well: command=%s, output=%s"
                                .formatted(line, text.strip()));
            }
            return text;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted: command=" + line, e);
        } finally {
            Files.delete(output);
        }
    }

    @Override
    public void close() throws Exception {
        ShutdownHookUtil.removeShutdownHook(shutdownHook, "chaos", LOG);
        IOUtils.closeAll(
                () -> {
                    for (long pid : List.copyOf(paused)) {
                        resume(pid);
                    }
                },
                () -> {
                    starter.shutdown();
                    starter.awaitTermination(COMMAND_TIMEOUT_S, TimeUnit.SECONDS);
                },
                () -> run(script, folder, List.of("stop")),
                () -> IOUtils.closeAll(dataProxies),
                proxy,
                quorum,
                disk);
    }
}
