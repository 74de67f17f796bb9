// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RdmaHostTest {

    private static final String ALL_CAPABILITIES = "CapEff:\t000001ffffffffff\n";
    private static final String DOCKER_CAPABILITIES = "CapEff:\t00000000a80425fb\n";

    @TempDir private Path root;

    @Test
    void shouldReportThatThereIsNoDevice() {
        assertThatThrownBy(() -> new RdmaHost(root).requireDevice())
                .isInstanceOf(VerbsException.class)
                .hasMessageStartingWith("No RDMA device: /sys/class/infiniband=empty")
                .hasMessageContaining("rdma link add rxe0 type rxe")
                .hasMessageEndingWith("(NO_DEVICE)");
    }

    @Test
    void shouldReportAMissingDeviceFile() throws IOException {
        write("sys/class/infiniband/rxe0", "");
        assertThatThrownBy(() -> new RdmaHost(root).requireDevice())
                .hasMessageContaining("file=/dev/infiniband/rdma_cm, found=no")
                .hasMessageContaining("modprobe rdma_ucm");

        write("dev/infiniband/rdma_cm", "");
        assertThatThrownBy(() -> new RdmaHost(root).requireDevice())
                .hasMessageContaining("file=/dev/infiniband/uverbs0, found=no")
                .hasMessageContaining("modprobe ib_uverbs");
    }

    @Test
    void shouldAcceptADeviceWithItsFiles() throws IOException {
        write("sys/class/infiniband/mlx5_1", "");
        write("sys/class/infiniband/mlx5_0", "");
        write("dev/infiniband/rdma_cm", "");
        write("dev/infiniband/uverbs1", "");
        RdmaHost host = new RdmaHost(root);

        host.requireDevice();

        assertThat(host.devices()).containsExactly("mlx5_0", "mlx5_1");
    }

    @Test
    void shouldRejectRegionsBeyondTheLockedMemoryLimit() throws IOException {
        write("proc/self/limits", "Max locked memory         65536       8388608     bytes\n");
        write("proc/self/status", DOCKER_CAPABILITIES);
        RdmaHost host = new RdmaHost(root);

        host.requireLockable(65_536);

        assertThat(host.lockedMemoryLimitBytes()).isEqualTo(65_536);
        assertThatThrownBy(() -> host.requireLockable(65_537))
                .hasMessageStartingWith(
                        "Region exceeds the locked-memory limit: region=65537 bytes,"
                                + " limit=65536 bytes. Raise it: ulimit -l")
                .hasMessageEndingWith("(LOCKED_MEMORY)");
    }

    @Test
    void shouldNotLimitAProcessThatMayLockAnyMemory() throws IOException {
        write("proc/self/limits", "Max locked memory         65536       65536     bytes\n");
        write("proc/self/status", ALL_CAPABILITIES);

        assertThat(new RdmaHost(root).lockedMemoryLimitBytes()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldReadAnUnlimitedLimit() throws IOException {
        write("proc/self/limits", "Max locked memory         unlimited   unlimited   bytes\n");
        write("proc/self/status", DOCKER_CAPABILITIES);

        assertThat(new RdmaHost(root).lockedMemoryLimitBytes()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldReadTheLimitOfThisProcess() throws IOException {
        assertThat(RdmaHost.local().lockedMemoryLimitBytes()).isPositive();
    }

    private void write(String file, String content) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, content);
    }
}
