package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.rdma.transport.TransportException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Finds the devices that have an address: its network interface, and RDMA ports on that. */
final class NetDevices {

    private final Path root;

    /**
     * @param root where sys lies: / but in tests
     */
    NetDevices(Path root) {
        this.root = root;
    }

    static NetDevices local() {
        return new NetDevices(Path.of("/"));
    }

    /**
     * Names as UCX_NET_DEVICES takes them: {@code eth0,mlx5_0:1}.
     *
     * @throws TransportException where the address is none of this host
     */
    String of(InetAddress address) throws TransportException {
        try {
            NetworkInterface found = NetworkInterface.getByInetAddress(address);
            if (found == null) {
                throw new TransportException(
                        "ucx listens on an address of this host: address="
                                + address.getHostAddress()
                                + " (ip address lists them)");
            }
            List<String> names = new ArrayList<>(List.of(found.getName()));
            names.addAll(rdmaPortsOn(found.getName()));
            return String.join(",", names);
        } catch (SocketException e) {
            throw new TransportException("the network interfaces cannot be read: " + e, e);
        }
    }

    /**
     * Ports whose first address belongs to the interface, as {@code mlx5_0:1}: the kernel tells it
     * in {@code sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0}.
     */
    List<String> rdmaPortsOn(String networkInterface) throws TransportException {
        Path devices = root.resolve("sys/class/infiniband");
        if (!Files.isDirectory(devices)) {
            return List.of();
        }
        List<String> found = new ArrayList<>();
        try {
            for (Path device : list(devices)) {
                for (Path port : list(device.resolve("ports"))) {
                    Path owner = port.resolve("gid_attrs/ndevs/0");
                    if (Files.isReadable(owner)
                            && Files.readString(owner).strip().equals(networkInterface)) {
                        found.add(device.getFileName() + ":" + port.getFileName());
                    }
                }
            }
        } catch (IOException e) {
            throw new TransportException("the RDMA devices cannot be read: " + e, e);
        }
        return found;
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        }
    }
}
