package io.github.gpujoin.rdma.transport.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NetDevicesTest {

    @TempDir private Path root;

    @Test
    void shouldNameTheInterfaceOfTheAddressAlone() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        assertThat(new NetDevices(root).of(loopback))
                .isEqualTo(NetworkInterface.getByInetAddress(loopback).getName());
    }

    @Test
    void shouldNameTheRdmaPortsOnAnInterface() throws Exception {
        port("mlx5_0", "1", "eth1");
        port("mlx5_0", "2", "eth2");
        port("mlx5_1", "1", "eth2");
        Files.createDirectories(root.resolve("sys/class/infiniband/mlx5_2/ports/1"));
        NetDevices devices = new NetDevices(root);
        assertThat(devices.rdmaPortsOn("eth2")).containsExactly("mlx5_0:2", "mlx5_1:1");
        assertThat(devices.rdmaPortsOn("lo")).isEmpty();
    }

    @Test
    void shouldRefuseAnAddressOfAnotherHost() throws Exception {
        InetAddress foreign = InetAddress.getByName("192.0.2.1");
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> new NetDevices(root).of(foreign))
                .withMessage(
                        "ucx listens on an address of this host: address=192.0.2.1 (ip address"
                                + " lists them)");
    }

    private void port(String device, String port, String owner) throws Exception {
        Path folder =
                root.resolve("sys/class/infiniband")
                        .resolve(device)
                        .resolve("ports")
                        .resolve(port)
                        .resolve("gid_attrs/ndevs");
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("0"), owner + "\n");
    }
}
