// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.session.SessionException;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.AutoCloseableRegistry;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.util.IOUtils;

/**
 * The rings into all subtasks of a join in one TaskManager. The first subtask opens them and pays
 * for their memory, the last one to leave closes them.
 *
 * <p><b>Which subtasks share.</b> Those that receive from the same attempts of the writers. These
 * are the subtasks that Flink deploys and cancels together: each of them is connected to each
 * writer, by edges that are always pipelined. The attempt number of a subtask does not show that.
 * After a failover, the new JobMaster counts from 0 again, while subtasks of the last execution are
 * still being cancelled; the adaptive scheduler starts added subtasks with 0 beside others with a
 * higher number. The id of a writer's attempt contains the execution graph, so two executions never
 * share.
 *
 * <p>A subtask that fails leaves its chunks in slots. All others restart with it, so that no writer
 * misses these slots for long.
 *
 * <p>Thread-safe. Only users of the same rings wait for each other while these open or close.
 */
final class SharedRings implements AutoCloseable {

    /**
     * Identity of rings.
     *
     * @param join name of the join
     * @param taskManager resource id: several TaskManagers may share a JVM
     * @param writers attempts of all writers, by side and subtask
     */
    record Key(
            JobID job,
            String join,
            String taskManager,
            Map<JoinSide, List<ExecutionAttemptID>> writers) {}

    /** Rings that have users, or that a user opens or closes. */
    private static final ConcurrentMap<Key, SharedRings> OPEN = new ConcurrentHashMap<>();

    private final Key key;
    private final Map<Integer, SharedReaderEnd> ends = new HashMap<>();
    private final AutoCloseableRegistry resources = new AutoCloseableRegistry();

    /** Set before the first user obtains the rings. */
    private RingServer server;

    /** Guarded by this. */
    private int userCount;

    private SharedRings(Key key) {
        this.key = key;
    }

    /**
     * Adds a user, who must close the rings once.
     *
     * @param channels of the rings; the same for all users
     * @param reservations of the user, in whose share the memory is reserved if it is the first
     * @throws IOException as {@link RingServer#open}
     */
    static SharedRings use(
            Key key,
            RingOptions options,
            Collection<Integer> channels,
            Configuration taskManager,
            RingReservations reservations)
            throws IOException {
        while (true) {
            SharedRings rings = OPEN.computeIfAbsent(key, SharedRings::new);
            synchronized (rings) {
                // Otherwise they were closed meanwhile.
                if (OPEN.get(key) == rings) {
                    if (rings.userCount == 0) {
                        rings.open(options, channels, taskManager, reservations);
                    }
                    rings.userCount++;
                    return rings;
                }
            }
        }
    }

    /** Opens all rings, or removes them. The caller holds the lock. */
    private void open(
            RingOptions options,
            Collection<Integer> channels,
            Configuration taskManager,
            RingReservations reservations)
            throws IOException {
        try {
            resources.registerCloseable(reservations.reserve(options.hostBytes(channels.size())));
            server =
                    RingServer.open(
                            key.join() + " in this TaskManager",
                            options,
                            Rendezvous.uuid(key.job()),
                            channels,
                            session -> {
                                SharedReaderEnd end =
                                        new SharedReaderEnd(
                                                session,
                                                options.maxHeldSlots(),
                                                options.maxArrivalNs());
                                ends.put(session.channel(), end);
                                return end;
                            },
                            taskManager);
            resources.registerCloseable(server);
        } catch (IOException | RuntimeException | Error e) {
            IOUtils.closeQuietly(this::closeResources);
            throw e;
        }
    }

    /** Returns the inputs of one more user, by channel. */
    Map<Integer, RingInput> inputs() {
        Map<Integer, RingInput> inputs = new HashMap<>();
        ends.forEach((channel, end) -> inputs.put(channel, end.input()));
        return inputs;
    }

    /** Returns the address and the secret of the rings. */
    Endpoint endpoint() {
        return server.endpoint();
    }

    /**
     * Reports a failure of the thread of the rings.
     *
     * @throws SessionException as {@link RingServer#checkNotFailed}
     */
    void checkNotFailed() throws SessionException {
        server.checkNotFailed();
    }

    /** Removes a user. The last one waits until server and memory are free. */
    @Override
    public synchronized void close() throws Exception {
        if (--userCount == 0) {
            closeResources();
        }
    }

    /** Only then may the next user open rings of the key: it needs the same memory. */
    private void closeResources() throws Exception {
        try {
            resources.close();
        } finally {
            OPEN.remove(key, this);
        }
    }
}
