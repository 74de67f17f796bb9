// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.exchange.ring.WriterAddresses.Target;
import io.github.gpujoin.rdma.session.AttemptToken;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.WriterSession;
import io.github.gpujoin.rdma.transport.Transport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobInfo;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.util.IOUtils;

/**
 * The rings from one sending subtask to all subtasks of the join.
 *
 * <p>A chunk goes through its ring if that is connected and has room, and through Flink's channel
 * otherwise. Both are correct at any time, because the receiver reads chunks and tickets in the
 * order of the channel. For the mailbox thread, unless stated otherwise.
 */
final class RingSender implements AutoCloseable {

    /**
     * Longest wait for room. A receiver without backpressure of its own reads a chunk within that
     * time; otherwise the backpressure of Flink's channel applies.
     */
    private static final long MAX_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final RingOptions options;
    private final UUID job;
    private final TaskInfo task;
    private final int channel;
    private final RingHost host;
    private final Transport transport;
    private final SessionAgent agent;
    private final RingTicket.Writer tickets;
    private final ChunkEncoder encoder = new ChunkEncoder();
    private final AddressLookup lookup;
    private final Configuration taskManager;
    private TimerGauge backPressured = new TimerGauge();
    private int lastSentBytes;

    /**
     * Memory of the rings, or null. The agent's thread writes the field; {@link #close} reads it
     * after that thread has ended.
     */
    private volatile SenderBuffers buffers;

    /** Ends by subtask of the join; empty until the agent's thread knows the addresses. */
    private volatile List<WriterEnd> ends = List.of();

    /**
     * Opens the transport, and connects once the coordinator provides the addresses.
     *
     * @param taskManager configuration of the process
     * @throws IOException if the transport is not available; the message contains the remedy
     */
    RingSender(
            RingOptions options,
            JoinSide side,
            JobInfo job,
            TaskInfo task,
            Configuration taskManager,
            Coordinator coordinator)
            throws IOException {
        this.options = options;
        this.taskManager = taskManager;
        this.job = Rendezvous.uuid(job.getJobId());
        this.task = task;
        this.channel = RingTicket.channel(side, task.getIndexOfThisSubtask());
        this.tickets = new RingTicket.Writer(channel);
        this.host = options.host(taskManager);
        this.lookup = new AddressLookup(coordinator, this::connect);
        this.transport = options.openWriter(options.localAddress(taskManager));
        this.agent = new SessionAgent(task.getTaskNameWithSubtasks(), host);
        agent.add(lookup);
    }

    /**
     * Counts waits for room in a ring as backpressure.
     *
     * @param backPressured backpressured time of the task
     */
    void countWaits(TimerGauge backPressured) {
        this.backPressured = backPressured;
    }

    /** Starts to connect to all subtasks of the join. Runs in the agent's thread. */
    private void connect(WriterAddresses addresses) throws IOException {
        List<WriterEnd> opened = new ArrayList<>();
        buffers =
                SenderBuffers.reserve(options.senderBytes(addresses.targets().size()), taskManager);
        for (Target target : addresses.targets()) {
            InetAddress address = InetAddress.getByName(target.host());
            WriterSession session =
                    new WriterSession(
                            job,
                            task.getAttemptNumber(),
                            channel,
                            new AttemptToken(target.token()),
                            host.dialer(new InetSocketAddress(address, target.port())),
                            transport,
                            options.sessions(),
                            System.nanoTime());
            opened.add(new WriterEnd(session, options.payloadBytes()));
        }
        ends = List.copyOf(opened);
        ends.forEach(agent::add);
    }

    /**
     * Sends a chunk, and returns what the caller must emit to Flink's channel: its ticket or the
     * chunk itself. Both have the same partition, so they reach the same subtask.
     *
     * @param chunk with rows of one partition
     * @throws IOException if a session with a receiver has failed, or an address is not usable
     */
    Chunk send(Chunk chunk) throws IOException {
        agent.checkNotFailed();
        List<WriterEnd> openEnds = ends;
        if (openEnds.isEmpty()) {
            lookup.checkNotFailed();
            return chunk;
        }
        int target =
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        options.partitions(), openEnds.size(), chunk.partition());
        byte[] bytes = options.encodes() ? encoder.encode(chunk) : chunk.bytes();
        long sequence = openEnds.get(target).send(bytes, MAX_WAIT_NS, backPressured);
        if (sequence == WriterEnd.NOT_SENT) {
            return chunk;
        }
        lastSentBytes = bytes.length;
        return tickets.write(chunk, bytes, sequence);
    }

    /** Returns the bytes of the last chunk that went through a ring, as they are in its slot. */
    int lastSentBytes() {
        return lastSentBytes;
    }

    /** Count of slots of connected rings that the join has not released. For any thread. */
    int occupiedSlots() {
        return ends.stream().filter(WriterEnd::isOpen).mapToInt(WriterEnd::occupiedSlots).sum();
    }

    /** Count of slots of connected rings that are free. For any thread. */
    int credits() {
        return Math.max(0, openRings() * options.slotCount() - occupiedSlots());
    }

    /** Count of connected rings. For any thread. */
    int openRings() {
        return (int) ends.stream().filter(WriterEnd::isOpen).count();
    }

    /**
     * Whether the rings to all subtasks of the join are connected.
     *
     * @throws IOException as {@link #send}
     */
    boolean areAllOpen() throws IOException {
        agent.checkNotFailed();
        lookup.checkNotFailed();
        List<WriterEnd> openEnds = ends;
        for (WriterEnd end : openEnds) {
            end.checkNotFailed();
        }
        return !openEnds.isEmpty() && openRings() == openEnds.size();
    }

    /** Returns why a ring is not connected, for messages. */
    String lastLoss() {
        return ends.stream()
                .filter(end -> !end.isOpen())
                .map(WriterEnd::lastLoss)
                .findFirst()
                .orElse("Join has not announced all its rings");
    }

    /**
     * Whether the join has received all chunks that went through rings.
     *
     * @throws SessionException if a session with a receiver has failed
     */
    boolean isDrained() throws SessionException {
        agent.checkNotFailed();
        for (WriterEnd end : ends) {
            if (!end.isDrained()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() throws Exception {
        // The agent may create the ends at this moment, so it must end first.
        IOUtils.closeAll(
                agent,
                () -> IOUtils.closeAll(ends),
                transport,
                () -> IOUtils.closeAllQuietly(buffers));
    }
}
