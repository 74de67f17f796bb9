// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.session.SessionException;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.util.IOUtils;

/**
 * The rings into all subtasks of a join in one TaskManager. The first subtask opens them and pays
 * for their memory, the last one to leave closes them.
 *
 * <p>Only subtasks of one attempt share rings. Flink restarts all of them together, since each
 * sender is connected to each of them, so that a subtask which fails leaves no chunks to others for
 * long. Thread-safe.
 */
final class SharedRings implements AutoCloseable {

    /**
     * Identity of rings.
     *
     * @param join name of the join
     * @param taskManager resource id: several TaskManagers may share a JVM
     * @param attempt of the subtasks
     */
    record Key(JobID job, String join, String taskManager, int attempt) {}

    /** Open rings, each with at least one user. Guarded by itself. */
    private static final Map<Key, SharedRings> OPEN = new HashMap<>();

    private final Key key;
    private final Map<Integer, SharedReaderEnd> ends = new HashMap<>();
    private final AutoCloseable memory;
    private final RingServer server;

    /** Guarded by {@link #OPEN}. */
    private int userCount;

    private SharedRings(
            Key key,
            RingOptions options,
            Collection<Integer> channels,
            Configuration taskManager,
            RingReservations reservations)
            throws IOException {
        this.key = key;
        memory = reservations.reserve(options.hostBytes(channels.size()));
        try {
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
        } catch (IOException | RuntimeException e) {
            IOUtils.closeQuietly(memory);
            throw e;
        }
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
        synchronized (OPEN) {
            SharedRings rings = OPEN.get(key);
            if (rings == null) {
                rings = new SharedRings(key, options, channels, taskManager, reservations);
                OPEN.put(key, rings);
            }
            rings.userCount++;
            return rings;
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

    /** Removes a user. */
    @Override
    public void close() throws Exception {
        synchronized (OPEN) {
            if (--userCount > 0) {
                return;
            }
            OPEN.remove(key);
        }
        IOUtils.closeAll(server, memory);
    }
}
