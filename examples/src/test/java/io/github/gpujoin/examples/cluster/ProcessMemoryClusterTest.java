// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.MalformedURLException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The size of a TaskManager's process as Flink plans it, {@code taskmanager.memory.process.size},
 * holds whatever it joins. Runs after the module is packaged.
 */
class ProcessMemoryClusterTest {

    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final Path JAR = TARGET.resolve("star-etl.jar");
    private static final Path STATE = TARGET.resolve("memory-cluster-test");
    private static final long MIB = 1 << 20;

    /** Of 1 KiB; four times the share of a slot's managed memory that RocksDB leaves. */
    private static final int ROWS = 500_000;

    /** Of 200 KiB: two rings of 50 MiB take most of the 128 MiB that a join has of its slot. */
    private static final int RING_SLOTS = 256;

    private static final long PATIENCE_S = 240;

    /** Flink's default process, with its parts as Flink computes them. */
    private static final String[] PROCESS_OF_1728_MIB = {
        "taskmanager.memory.process.size=1728m",
        "taskmanager.memory.task.heap.size=384m",
        "taskmanager.memory.task.off-heap.size=0m",
        "taskmanager.memory.managed.size=512m",
        "taskmanager.memory.network.min=128m",
        "taskmanager.memory.network.max=128m",
        "taskmanager.memory.jvm-metaspace.size=256m"
    };

    /**
     * Two jobs, each with a class loader of its own in the same process. Rings of shm are mapped by
     * both their ends in that process, so its resident memory counts each of their pages twice.
     */
    @ParameterizedTest(name = "transport={0}")
    @ValueSource(strings = {"flink", "shm"})
    void shouldStayWithinTheProcessSizeWithTwoBuildSidesLargerThanManagedMemory(String transport)
            throws Exception {
        assertThat(JAR).as("mvn package makes it").isRegularFile();
        try (LocalCluster cluster = new LocalCluster(STATE)) {
            cluster.start(1, 2, PROCESS_OF_1728_MIB);
            List<Process> clients = new ArrayList<>();
            for (int job = 0; job < 2; job++) {
                clients.add(
                        cluster.submit(
                                output(job),
                                options(transport),
                                LargeBuildSide.class.getName(),
                                JAR,
                                List.of(String.valueOf(ROWS))));
            }
            for (int job = 0; job < 2; job++) {
                boolean ended = clients.get(job).waitFor(PATIENCE_S, TimeUnit.SECONDS);
                String said = Files.readString(output(job));
                assertThat(ended).as(said).isTrue();
                assertThat(said).contains(LargeBuildSide.expected(ROWS));
            }
            long peakMib = cluster.peakResidentBytes(1) / MIB;
            System.out.printf(
                    "Peak of the TaskManager's process: transport=%s, %d MiB of 1728%n",
                    transport, peakMib);
            assertThat(peakMib).isLessThan(1728);
        }
    }

    private static List<String> options(String transport) throws MalformedURLException {
        return List.of(
                "-C",
                TARGET.resolve("test-classes").toUri().toURL().toString(),
                "-p",
                "1",
                "-Dstate.backend.type=rocksdb",
                "-Dgpu-join.engine=cpu",
                "-Dgpu-join.transport=" + transport,
                "-Dgpu-join.ring.slots=" + RING_SLOTS,
                "-Dgpu-join.spill-delay=1s",
                "-Drestart-strategy.type=none");
    }

    private static Path output(int job) {
        return STATE.resolve("client-" + job + ".out");
    }
}
