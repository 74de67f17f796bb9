// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.examples.StarEtl;
import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.data.DataFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Runs the job jar on a cluster of separate processes and kills one of them. Runs after the module
 * is packaged.
 */
class KilledTaskManagerClusterTest {

    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final Path JAR = TARGET.resolve("star-etl.jar");
    private static final Path STATE = TARGET.resolve("cluster-test");

    /** Large enough that the join is far from its end when its first checkpoint is complete. */
    private static final double SCALE_FACTOR = 2;

    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    @TempDir private Path directory;

    @BeforeEach
    void findTheJobJar() {
        assertThat(JAR).as("mvn package makes it").isRegularFile();
    }

    /** With a bound that small the largest dimension is partitioned, and rings are used. */
    @ParameterizedTest(name = "transport={0}")
    @CsvSource({"flink, 64 mb", "shm, 1 kb"})
    void shouldAnswerExactlyThoughATaskManagerIsKilledMidJoin(
            String transport, String replicateMaxBytes) throws Exception {
        Path data = directory.resolve("data");
        Path out = directory.resolve("out");
        DataFiles.makeMissing(Benchmark.SSB, data, SCALE_FACTOR, table -> {});

        try (LocalCluster cluster = new LocalCluster(STATE)) {
            cluster.start(2, 1);
            List<String> options =
                    List.of(
                            "-Dgpu-join.transport=" + transport,
                            "-Dgpu-join.replicate-max-bytes=" + replicateMaxBytes);
            Process client =
                    cluster.submit(options, StarEtl.class.getName(), JAR, arguments(data, out));
            JoinJob job = new JoinJob(cluster.address());
            await("the join has results", client, cluster, () -> job.joinedRows() > 0);
            long completed = job.completedCheckpoints();
            await(
                    "a checkpoint since then",
                    client,
                    cluster,
                    () -> job.completedCheckpoints() > completed);

            cluster.killTaskManager(job.taskManagerOfJoin());
            cluster.startTaskManager();

            assertThat(client.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
                    .as(Files.readString(cluster.clientOutput()))
                    .isTrue();
            assertThat(client.exitValue()).as(Files.readString(cluster.clientOutput())).isZero();
            assertThat(job.restoredCheckpoints()).isPositive();
        }
        assertThat(Files.readAllLines(out.resolve("q2.1.csv")))
                .isEqualTo(DuckDbAnswer.toQuery("2.1", data));
    }

    private static List<String> arguments(Path data, Path out) {
        return List.of(
                "--data",
                data.toString(),
                "--query",
                "2.1",
                "--out",
                out.toString(),
                "--state",
                "rocksdb",
                "--checkpoint-interval",
                "200",
                "--parallelism",
                "2");
    }

    private static void await(
            String what, Process client, LocalCluster cluster, BooleanSupplier condition)
            throws IOException, InterruptedException {
        long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
        while (!condition.getAsBoolean()) {
            boolean ended = client.waitFor(10, TimeUnit.MILLISECONDS);
            assertThat(ended || System.nanoTime() > deadlineNs)
                    .as(
                            "waited for: %s, client ended=%s, output=%s",
                            what, ended, Files.readString(cluster.clientOutput()))
                    .isFalse();
        }
    }
}
