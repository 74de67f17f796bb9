// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A TaskManager that runs out of file descriptors. Runs after the module is packaged. */
class FewDescriptorsClusterTest {

    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final Path JAR = TARGET.resolve("star-etl.jar");
    private static final Path STATE = TARGET.resolve("descriptors-cluster-test");
    private static final int ROWS = 100_000;
    private static final long PATIENCE_S = 240;

    /** A job needs some tens: for its own class path, RocksDB, rings and connections. */
    @ParameterizedTest
    @ValueSource(ints = {4, 24})
    void shouldNameTheWantOfDescriptorsAndNotWhatItBroke(int left) throws Exception {
        assertThat(JAR).as("mvn package makes it").isRegularFile();
        try (LocalCluster cluster = new LocalCluster(STATE)) {
            cluster.start(2, 1);
            leaveDescriptors(cluster.pid(1), left);
            Process client =
                    cluster.submit(
                            options(),
                            LargeBuildSide.class.getName(),
                            JAR,
                            List.of(String.valueOf(ROWS)));
            boolean ended = client.waitFor(PATIENCE_S, TimeUnit.SECONDS);
            String said = Files.readString(cluster.clientOutput());
            assertThat(ended).as(said).isTrue();
            assertThat(client.exitValue()).as(said).isNotZero();
            assertThat(said).containsIgnoringCase("Too many open files");
        }
    }

    private static void leaveDescriptors(long pid, int left) throws Exception {
        long limit = openDescriptors(pid) + left;
        Process prlimit =
                new ProcessBuilder("prlimit", "--pid", "" + pid, "--nofile=" + limit + ":" + limit)
                        .inheritIO()
                        .start();
        assertThat(prlimit.waitFor()).isZero();
    }

    private static long openDescriptors(long pid) throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc", String.valueOf(pid), "fd"))) {
            return open.count();
        }
    }

    private static List<String> options() throws IOException {
        return List.of(
                "-C",
                TARGET.resolve("test-classes").toUri().toURL().toString(),
                "-p",
                "2",
                "-Dstate.backend.type=rocksdb",
                "-Dgpu-join.engine=cpu",
                "-Dgpu-join.transport=shm",
                "-Dexecution.checkpointing.interval=200ms",
                "-Dexecution.checkpointing.dir=" + STATE.resolve("checkpoints").toUri(),
                "-Drestart-strategy.type=none");
    }
}
