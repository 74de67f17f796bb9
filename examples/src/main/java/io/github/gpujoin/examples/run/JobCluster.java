// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import java.lang.management.ManagementFactory;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.state.rocksdb.RocksDBOptions;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.ShutdownHookUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a command's jobs run: the cluster that the command was submitted to, or, where it was
 * started by itself, a cluster inside this process that serves all its jobs and ends when this is
 * closed.
 */
public final class JobCluster implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(JobCluster.class);

    /** In log messages. */
    private static final String NAME = "the cluster in this process";

    private static final Duration PROGRESS_INTERVAL = Duration.ofMillis(250);

    /** Of all slots together. */
    private static final MemorySize ROCKSDB_MEMORY = MemorySize.ofMebiBytes(256);

    /** Null where there is a cluster already. */
    private final MiniCluster embedded;

    private final int slots;

    /** Null where there is a cluster already. */
    private final Thread shutdownHook;

    private JobCluster(MiniCluster embedded, int slots) {
        this.embedded = embedded;
        this.slots = slots;
        // A process that is interrupted leaves no files of the cluster behind.
        this.shutdownHook =
                embedded == null ? null : ShutdownHookUtil.addShutdownHook(embedded, NAME, LOG);
    }

    /**
     * @param slots of the embedded cluster: the largest parallelism of a job, and that of jobs
     *     which say nothing else
     * @param options of the embedded cluster, over its own; a cluster that is there has its own
     */
    public static JobCluster open(int slots, Configuration options) throws Exception {
        StreamExecutionEnvironment surroundings =
                StreamExecutionEnvironment.getExecutionEnvironment();
        if (!(surroundings instanceof LocalStreamEnvironment)) {
            return new JobCluster(null, 0);
        }
        MiniCluster embedded = new MiniCluster(clusterOf(slots, options));
        JobCluster cluster = new JobCluster(embedded, slots);
        try {
            embedded.start();
        } catch (Throwable e) {
            IOUtils.closeQuietly(cluster);
            throw e;
        }
        return cluster;
    }

    private static MiniClusterConfiguration clusterOf(int slots, Configuration over) {
        Configuration options = new Configuration();
        // Accumulators travel with heartbeats; progress is read from them.
        options.set(HeartbeatManagerOptions.HEARTBEAT_INTERVAL, PROGRESS_INTERVAL);
        options.set(WebOptions.REFRESH_INTERVAL, PROGRESS_INTERVAL);
        options.set(RestOptions.BIND_PORT, "0");
        options.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, halfOfTheMachine());
        options.set(RocksDBOptions.FIX_PER_SLOT_MEMORY_SIZE, ROCKSDB_MEMORY.divide(slots));
        // Buffers of 32 KiB for all-to-all edges, of which a query has a handful.
        MemorySize network = MemorySize.ofMebiBytes(128 + (long) slots * slots / 2);
        options.set(TaskManagerOptions.NETWORK_MEMORY_MIN, network);
        options.set(TaskManagerOptions.NETWORK_MEMORY_MAX, network);
        options.addAll(over);
        return new MiniClusterConfiguration.Builder()
                .setConfiguration(options)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(slots)
                .build();
    }

    /** Managed memory for tables where the process has the machine to itself. */
    public static MemorySize halfOfTheMachine() {
        var machine =
                ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
        return new MemorySize(machine.getTotalMemorySize() / 2);
    }

    /**
     * An environment for jobs.
     *
     * @param options of the jobs, over those of the surroundings
     */
    public StreamExecutionEnvironment env(Configuration options) throws Exception {
        if (embedded == null) {
            return StreamExecutionEnvironment.getExecutionEnvironment(options);
        }
        URI rest = embedded.getRestAddress().get();
        Configuration remote = new Configuration();
        remote.set(CoreOptions.DEFAULT_PARALLELISM, slots);
        remote.addAll(options);
        remote.set(DeploymentOptions.TARGET, "remote");
        remote.set(DeploymentOptions.ATTACHED, true);
        remote.set(RestOptions.ADDRESS, rest.getHost());
        remote.set(RestOptions.PORT, rest.getPort());
        return new StreamExecutionEnvironment(remote);
    }

    @Override
    public void close() throws Exception {
        if (embedded != null) {
            ShutdownHookUtil.removeShutdownHook(shutdownHook, NAME, LOG);
            embedded.closeAsync().get(120, TimeUnit.SECONDS);
        }
    }
}
