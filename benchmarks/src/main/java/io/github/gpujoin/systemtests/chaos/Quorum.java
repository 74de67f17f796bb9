// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServer;

/**
 * A ZooKeeper of one server in this process, so that another JobManager recovers the jobs of one
 * that was killed. Of Flink's own services for high availability, only ZooKeeper serves a cluster
 * of plain processes.
 */
final class Quorum implements AutoCloseable {

    private static final int TICK_MS = 500;
    private static final int MAX_CONNECTIONS = 100;

    private final NIOServerCnxnFactory connections;
    private final Path folder;

    private Quorum(NIOServerCnxnFactory connections, Path folder) {
        this.connections = connections;
        this.folder = folder;
    }

    /**
     * Listens on a free port of the loopback address.
     *
     * @param folder empty; of ZooKeeper's and the JobManager's files
     */
    static Quorum start(Path folder) throws IOException {
        NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
        connections.configure(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), MAX_CONNECTIONS);
        try {
            Path files = folder.resolve("zookeeper");
            connections.startup(new ZooKeeperServer(files.toFile(), files.toFile(), TICK_MS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while ZooKeeper started.", e);
        }
        return new Quorum(connections, folder);
    }

    /**
     * Options of the cluster.
     *
     * @param jobManagerPort by which TaskManagers reach the JobManager
     */
    Map<String, String> options(int jobManagerPort) {
        return Map.of(
                "high-availability.type",
                "zookeeper",
                "high-availability.zookeeper.quorum",
                "localhost:" + connections.getLocalPort(),
                "high-availability.storageDir",
                folder.resolve("jobs").toUri().toString(),
                "high-availability.jobmanager.port",
                String.valueOf(jobManagerPort),
                // A JobManager that is dead keeps its successor waiting as long.
                "high-availability.zookeeper.client.session-timeout",
                "5s",
                "high-availability.zookeeper.client.connection-timeout",
                "5s");
    }

    @Override
    public void close() {
        connections.shutdown();
    }
}
