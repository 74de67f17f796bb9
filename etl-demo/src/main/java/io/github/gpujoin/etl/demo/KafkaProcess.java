// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.demo;

import io.github.gpujoin.etl.data.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * One broker of Kafka, which is its own controller, in a process of its own. A restarted broker has
 * the same ports and data. Not thread-safe.
 */
final class KafkaProcess implements AutoCloseable {

    private static final long START_SECONDS = 120;

    private final JavaCommand java;
    private final Path folder;
    private final Path properties;
    private final int port = Ports.free();
    private volatile @Nullable Process process;
    private volatile boolean isClosed;

    private KafkaProcess(JavaCommand java, Path folder) {
        this.java = java;
        this.folder = folder;
        properties = propertiesIn(folder);
    }

    /**
     * Formats storage, starts the broker and waits until it answers.
     *
     * @param java with the server's class path
     * @param folder of configuration, data and log
     * @param processes that the broker ends with
     */
    static KafkaProcess start(JavaCommand java, Path folder, DemoProcesses processes)
            throws Exception {
        KafkaProcess kafka = processes.add(new KafkaProcess(java, Files.createDirectories(folder)));
        Files.writeString(kafka.properties, kafka.configuration());
        kafka.format();
        kafka.launch();
        return kafka;
    }

    /** Kills the broker that a crashed command has left on a folder. */
    static void endLeftover(Path folder) {
        String properties = propertiesIn(folder).toString();
        ProcessHandle.allProcesses()
                .filter(p -> p.info().commandLine().orElse("").endsWith(" " + properties))
                .forEach(
                        p -> {
                            p.destroyForcibly();
                            p.onExit().join();
                        });
    }

    private static Path propertiesIn(Path folder) {
        return folder.resolve("server.properties");
    }

    /** Of clients. */
    String address() {
        return "localhost:" + port;
    }

    private String configuration() {
        int controller = Ports.free();
        return Stream.of(
                        "process.roles=broker,controller",
                        "node.id=1",
                        "controller.quorum.voters=1@localhost:" + controller,
                        "listeners=CLIENTS://localhost:%d,CONTROLLER://localhost:%d"
                                .formatted(port, controller),
                        "inter.broker.listener.name=CLIENTS",
                        "controller.listener.names=CONTROLLER",
                        "listener.security.protocol.map=CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT",
                        "log.dirs=" + folder.resolve("data"),
                        "auto.create.topics.enable=false",
                        "group.initial.rebalance.delay.ms=0",
                        // One broker has no replicas.
                        "offsets.topic.replication.factor=1",
                        "offsets.topic.num.partitions=4",
                        "transaction.state.log.replication.factor=1",
                        "transaction.state.log.min.isr=1",
                        "transaction.state.log.num.partitions=4",
                        "share.coordinator.state.topic.replication.factor=1",
                        "share.coordinator.state.topic.min.isr=1")
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private void format() throws IOException, InterruptedException {
        Path log = folder.resolve("format.out");
        Process format =
                java.start(
                        log,
                        "kafka.tools.StorageTool",
                        List.of(
                                "format",
                                "-t",
                                Uuid.randomUuid().toString(),
                                "-c",
                                properties.toString()));
        if (!format.waitFor(START_SECONDS, TimeUnit.SECONDS) || format.exitValue() != 0) {
            format.destroyForcibly();
            throw new IOException("Kafka's storage was not formatted. See " + log + ".");
        }
    }

    private void launch() throws Exception {
        Path log = folder.resolve("broker.out");
        Process started = java.start(log, "kafka.Kafka", List.of(properties.toString()));
        process = started;
        if (isClosed) {
            close();
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        try (Admin admin = admin()) {
            while (true) {
                try {
                    admin.describeCluster().nodes().get(2, TimeUnit.SECONDS);
                    return;
                } catch (ExecutionException | TimeoutException e) {
                    if (!started.isAlive() || System.nanoTime() > deadline) {
                        throw new IOException("The broker does not answer. See " + log + ".", e);
                    }
                }
            }
        }
    }

    private Admin admin() {
        return Admin.create(
                Map.of(
                        "bootstrap.servers",
                        address(),
                        "reconnect.backoff.max.ms",
                        200,
                        "client.id",
                        "etl-demo"));
    }

    /** Creates topics. */
    void createTopics(String... names) throws Exception {
        List<NewTopic> topics = new ArrayList<>();
        for (String name : names) {
            topics.add(new NewTopic(name, Topics.PARTITIONS, (short) 1));
        }
        try (Admin admin = admin()) {
            admin.createTopics(topics).all().get();
        }
    }

    /** Kills the broker as a crash would, and starts it again on the same data. */
    void killAndRestart(long downSeconds) throws Exception {
        Objects.requireNonNull(process, "process").destroyForcibly().waitFor();
        TimeUnit.SECONDS.sleep(downSeconds);
        launch();
    }

    @Override
    public void close() {
        isClosed = true;
        JavaCommand.end(process);
    }
}
