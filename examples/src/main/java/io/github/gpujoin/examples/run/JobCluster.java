// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import java.lang.management.ManagementFactory;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cluster that runs the jobs of a command.
 *
 * <p>A command submitted by {@code flink run} uses the cluster of its submission. Otherwise a
 * cluster inside this process runs all jobs of the command, and stops on {@link #close()}.
 */
public final class JobCluster implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(JobCluster.class);

    private static final String NAME = "embedded cluster";

    private static final Duration PROGRESS_INTERVAL = Duration.ofMillis(250);

    /** RocksDB memory of all slots together. */
    private static final MemorySize ROCKSDB_MEMORY = MemorySize.ofMebiBytes(256);

    /** Null if the command was submitted to an existing cluster. */
    private final @Nullable MiniCluster embedded;

    private final int slots;

    /** Null if the command was submitted to an existing cluster. */
    private final Thread shutdownHook;

    private JobCluster(MiniCluster embedded, int slots) {
        this.embedded = embedded;
        this.slots = slots;
        // The hook deletes the files of the cluster if the process is interrupted.
        this.shutdownHook =
                embedded == null ? null : ShutdownHookUtil.addShutdownHook(embedded, NAME, LOG);
    }

    /**
     * Returns the existing cluster, or starts an embedded one.
     *
     * @param slots slots of the embedded cluster: both the highest and the default parallelism
     * @param options override the options of the embedded cluster; unused on an existing cluster
     * @throws Exception if the embedded cluster fails to start
     */
    public static JobCluster open(int slots, Configuration options) throws Exception {
        StreamExecutionEnvironment current = StreamExecutionEnvironment.getExecutionEnvironment();
        if (!(current instanceof LocalStreamEnvironment)) {
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
        // Heartbeats transport the accumulators that the progress display reads.
        options.set(HeartbeatManagerOptions.HEARTBEAT_INTERVAL, PROGRESS_INTERVAL);
        options.set(WebOptions.REFRESH_INTERVAL, PROGRESS_INTERVAL);
        options.set(RestOptions.BIND_PORT, "0");
        // Managed memory of a stated size holds RocksDB too, as on any cluster.
        if (!over.contains(TaskManagerOptions.MANAGED_MEMORY_SIZE)) {
            options.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, halfOfTheMachine());
            options.set(RocksDBOptions.FIX_PER_SLOT_MEMORY_SIZE, ROCKSDB_MEMORY.divide(slots));
        }
        // A query has a few all-to-all edges; each needs slots x slots buffers of 32 KiB.
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

    /** Half of the physical memory, as managed memory for a process that has the machine alone. */
    public static MemorySize halfOfTheMachine() {
        var machine =
                ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
        return new MemorySize(machine.getTotalMemorySize() / 2);
    }

    /**
     * Creates an environment that submits jobs to this cluster.
     *
     * @param options override the options of the cluster
     */
    public StreamExecutionEnvironment env(Configuration options) throws Exception {
        if (embedded == null) {
            return StreamExecutionEnvironment.getExecutionEnvironment(options);
        }
        Configuration attached = new Configuration();
        attached.set(CoreOptions.DEFAULT_PARALLELISM, slots);
        attached.addAll(options);
        attached.set(DeploymentOptions.TARGET, EmbeddedExecutor.NAME);
        attached.set(DeploymentOptions.ATTACHED, true);
        return new StreamExecutionEnvironment(
                new EmbeddedExecutor(embedded),
                attached,
                Thread.currentThread().getContextClassLoader());
    }

    @Override
    public void close() throws Exception {
        if (embedded != null) {
            ShutdownHookUtil.removeShutdownHook(shutdownHook, NAME, LOG);
            embedded.closeAsync().get(120, TimeUnit.SECONDS);
        }
    }
}
