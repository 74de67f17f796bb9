// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.rdma.session.ControlServer;
import io.github.gpujoin.rdma.session.JobSecret;
import io.github.gpujoin.rdma.session.ReaderSession;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.SessionListener;
import io.github.gpujoin.rdma.session.SessionOptions;
import io.github.gpujoin.rdma.transport.Transport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.JobInfo;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.AutoCloseableRegistry;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.util.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rings into one subtask of the join, and the server to which their writers connect.
 *
 * <p>Each attempt of the subtask opens new rings with a new secret, so the tokens of an earlier
 * attempt are invalid. For the mailbox thread.
 */
public final class RingReceiver implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RingReceiver.class);

    /** Reconnect timeouts that a wait for a chunk may last. */
    private static final int MAX_RECONNECTS = 2;

    private final AutoCloseableRegistry resources = new AutoCloseableRegistry();
    private final RingOptions options;
    private final Map<Integer, ReaderEnd> ends = new HashMap<>();
    private final List<ReaderEnd> factEnds = new ArrayList<>();
    private SessionAgent agent;
    private TimerGauge idle = new TimerGauge();

    private RingReceiver(RingOptions options) {
        this.options = options;
    }

    /**
     * Opens a ring for each writer, and announces the address to the coordinator.
     *
     * @param writers count of subtasks that send chunks, by side
     * @param taskManager configuration of the process
     * @throws IOException if the transport or the address is not available; the message contains
     *     the remedy
     */
    public static RingReceiver open(
            RingOptions options,
            Map<JoinSide, Integer> writers,
            JobInfo job,
            TaskInfo task,
            Configuration taskManager,
            OperatorEventGateway coordinator)
            throws IOException {
        RingReceiver receiver = new RingReceiver(options);
        try {
            receiver.open(writers, job, task, taskManager, coordinator);
            return receiver;
        } catch (IOException | RuntimeException e) {
            IOUtils.closeQuietly(receiver);
            throw e;
        }
    }

    private void open(
            Map<JoinSide, Integer> writers,
            JobInfo job,
            TaskInfo task,
            Configuration taskManager,
            OperatorEventGateway coordinator)
            throws IOException {
        options.requireRingLimit(writers.values().stream().mapToInt(Integer::intValue).sum());
        InetAddress address = options.localAddress(taskManager);
        RingHost host = options.host(taskManager);
        ControlServer server = host.listen(address);
        resources.registerCloseable(server);
        if (options.gpuDirect() != null) {
            LOG.warn("{}: task={}", options.gpuDirect(), task.getTaskNameWithSubtasks());
        }
        Transport transport = options.openReader(address);
        resources.registerCloseable(transport);
        JobSecret secret = JobSecret.random();
        SessionListener listener =
                new SessionListener(
                        Rendezvous.uuid(job.getJobId()),
                        secret,
                        options.sessions(),
                        SessionListener.Limits.DEFAULT);
        resources.registerCloseable(listener);
        writers.forEach((side, count) -> addRings(side, count, transport, listener));
        for (ReaderEnd end : ends.values()) {
            resources.registerCloseable(end);
        }
        agent = new SessionAgent(task.getTaskNameWithSubtasks(), host);
        resources.registerCloseable(agent);
        agent.add(nowNs -> server.step(listener, nowNs));
        ends.values().forEach(agent::add);
        InetSocketAddress bound = server.address();
        coordinator.sendEventToCoordinator(
                new ReaderAddress(
                        bound.getAddress().getHostAddress(), bound.getPort(), secret.bytes()));
    }

    private void addRings(JoinSide side, int count, Transport transport, SessionListener listener) {
        SessionOptions sessions = options.sessions();
        for (int subtask = 0; subtask < count; subtask++) {
            int channel = RingTicket.channel(side, subtask);
            ReaderSession session =
                    new ReaderSession(
                            channel, options.geometry(), transport, sessions, System.nanoTime());
            listener.add(session);
            long maxWaitNs = MAX_RECONNECTS * sessions.reconnectTimeoutNs();
            ReaderEnd end = new ReaderEnd(session, options.slotCount() / 2, maxWaitNs);
            ends.put(channel, end);
            if (side == JoinSide.PROBE) {
                factEnds.add(end);
            }
        }
    }

    /**
     * Counts waits for chunks of rings as idle time.
     *
     * @param idle idle time of the task
     */
    public void countWaits(TimerGauge idle) {
        this.idle = idle;
    }

    /**
     * Returns an arrived chunk or, for a ticket, its chunk from the ring.
     *
     * @param arrived chunk or ticket from Flink's channel
     * @param access how the payload of a ticket is read
     * @param cancelled whether the task is cancelled; polled during a wait
     * @return a chunk whose user is the caller
     * @throws SessionException if the session with the sender, or the server of all sessions, has
     *     failed
     * @throws IllegalStateException if the ticket is of no ring, or not for its next chunk
     */
    public Chunk received(Chunk arrived, PayloadAccess access, BooleanSupplier cancelled)
            throws SessionException {
        agent.checkNotFailed();
        if (!RingTicket.isTicket(arrived)) {
            return arrived;
        }
        ReaderEnd end = ends.get(RingTicket.channelOf(arrived));
        if (end == null) {
            throw new IllegalStateException(
                    "Ticket of an unknown ring: channel="
                            + RingTicket.channelOf(arrived)
                            + ", rings="
                            + ends.size());
        }
        return end.receive(arrived, access, cancelled, idle);
    }

    /** Returns the bytes of facts that the CPU copied out of the rings. Thread-safe. */
    public long payloadBytesCopied() {
        return factEnds.stream().mapToLong(ReaderEnd::payloadBytesCopied).sum();
    }

    /** Returns the number of slots of facts for which their writers have no credit. Thread-safe. */
    public int heldSlots() {
        return factEnds.stream().mapToInt(ReaderEnd::heldSlots).sum();
    }

    /** Whether the next chunk of each ring of facts may be read in place. */
    public boolean hasRoom() {
        return factEnds.stream().allMatch(ReaderEnd::hasRoom);
    }

    @Override
    public void close() throws Exception {
        resources.close();
    }
}
