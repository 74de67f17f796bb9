// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.examples.cluster.LocalCluster.Outcome;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code bin/cluster} says where it cannot do as asked. */
class ClusterCommandTest {

    private static final int REFUSED = 2;
    private static final int NOT_RUNNING = 3;

    @TempDir private Path stateDirectory;

    @Test
    void shouldRefuseATakenPort() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
            String port = String.valueOf(taken.getLocalPort());
            Outcome outcome = cluster().run("start", "--port", port);

            assertThat(outcome.exitStatus()).isEqualTo(REFUSED);
            assertThat(outcome.output())
                    .contains("the port of the REST endpoint is taken: port=" + port);
        }
        assertThat(cluster().run("status").exitStatus()).isEqualTo(NOT_RUNNING);
    }

    @Test
    void shouldRefuseToKillATaskManagerThatDoesNotRun() {
        Outcome outcome = cluster().run("kill-taskmanager", "7");

        assertThat(outcome.exitStatus()).isEqualTo(REFUSED);
        assertThat(outcome.output()).contains("no such TaskManager runs: number=7");
    }

    @Test
    void shouldRefuseToSubmitWithoutACluster() {
        Outcome outcome = cluster().run("run", "job.jar");

        assertThat(outcome.exitStatus()).isEqualTo(REFUSED);
        assertThat(outcome.output()).contains("no cluster runs: state-dir=" + stateDirectory);
    }

    @Test
    void shouldStopWhatWasNeverStarted() {
        assertThat(cluster().run("stop").exitStatus()).isZero();
        assertThat(cluster().run("stop").exitStatus()).isZero();
    }

    private LocalCluster cluster() {
        return new LocalCluster(stateDirectory);
    }
}
