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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * The rings from one sending subtask to all subtasks of the join: one to each, one to each
 * TaskManager, or both ({@link RingOptions#sharing}).
 *
 * <p>A chunk goes through a ring if that is connected and has room, and through Flink's channel
 * otherwise. Both are correct at any time, because the receiver reads chunks and tickets in the
 * order of the channel. For the mailbox thread, unless stated otherwise.
 */
final class RingSender implements AutoCloseable {

    /**
     * Longest wait for room. A receiver without backpressure of its own reads a chunk within that
     * time; otherwise the backpressure of Flink's channel applies.
     */
    static final long MAX_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final RingOptions options;
    private final JoinSide side;
    private final RingTask task;
    private final RingHost host;
    private final Transport transport;
    private final SessionAgent agent;
    private final SentChunks out;
    private final ChunkEncoder encoder = new ChunkEncoder();
    private final AddressLookup lookup;
    private final SharedRingMetrics sharedMetrics = new SharedRingMetrics();
    private TimerGauge backPressured = new TimerGauge();

    /**
     * Memory of the rings. The agent's thread adds the first, before it publishes {@link
     * #channels}; {@link #close} reads them after that thread has ended.
     */
    private final List<SenderBuffers> buffers = new ArrayList<>();

    /** All that were opened, also if opening the others failed. */
    private final List<WriterEnd> ends = new CopyOnWriteArrayList<>();

    /** Shared rings; complete when {@link #channels} is published. */
    private volatile List<SharedRing> sharedRings = List.of();

    /** By subtask of the join; empty until the agent's thread knows the addresses. */
    private volatile List<SendChannel> channels = List.of();

    /**
     * Opens the transport, and connects once the coordinator provides the addresses.
     *
     * @param side whose chunks are sent
     * @param out receives tickets and chunks for Flink's channels
     * @throws IOException if the transport is not available; the message contains the remedy
     */
    RingSender(
            RingOptions options,
            JoinSide side,
            RingTask task,
            Coordinator coordinator,
            SentChunks out)
            throws IOException {
        this.options = options;
        this.side = side;
        this.task = task;
        this.out = out;
        this.host = options.host(task.taskManager());
        this.lookup = new AddressLookup(coordinator, this::connect);
        this.transport = options.openWriter(options.localAddress(task.taskManager()));
        this.agent = new SessionAgent(task.name(), host);
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
        List<Endpoint> servers = new ArrayList<>();
        for (Target target : addresses.targets()) {
            if (target.shared() != null && indexOf(servers, target.shared()) < 0) {
                servers.add(target.shared());
            }
        }
        boolean isShared = !servers.isEmpty();
        int ringCount = isShared ? servers.size() : addresses.targets().size();
        buffers.add(SenderBuffers.reserve(options.senderBytes(ringCount), task.taskManager()));
        List<SharedRing> rings = new ArrayList<>();
        for (Endpoint server : servers) {
            int channel = RingTicket.sharedChannel(side, task.subtask());
            rings.add(new SharedRing(open(server, channel), channel, sharedMetrics, out));
        }
        sharedRings = List.copyOf(rings);
        int channel = RingTicket.channel(side, task.subtask());
        List<SendChannel> opened = new ArrayList<>();
        for (Target target : addresses.targets()) {
            Endpoint own = target.own();
            SharedRing shared = isShared ? rings.get(indexOf(servers, target.shared())) : null;
            SendChannel.Opener opener = null;
            if (own != null) {
                opener = isShared ? () -> tryOpen(own, channel) : () -> open(own, channel);
            }
            opened.add(new SendChannel(shared, opener, channel, out));
        }
        channels = List.copyOf(opened);
    }

    private static int indexOf(List<Endpoint> servers, Endpoint server) {
        for (int i = 0; i < servers.size(); i++) {
            if (servers.get(i).isServerOf(server)) {
                return i;
            }
        }
        return -1;
    }

    /** Opens a ring beside a shared one, unless its buffer does not fit. */
    private @Nullable WriterEnd tryOpen(Endpoint server, int channel) throws IOException {
        SenderBuffers buffer = SenderBuffers.tryReserve(options.senderBytes(1), task.taskManager());
        if (buffer == null) {
            return null;
        }
        buffers.add(buffer);
        return open(server, channel);
    }

    private WriterEnd open(Endpoint server, int channel) throws IOException {
        InetAddress address = InetAddress.getByName(server.host());
        WriterSession session =
                new WriterSession(
                        Rendezvous.uuid(task.job()),
                        task.attempt(),
                        channel,
                        new AttemptToken(server.key()),
                        host.dialer(new InetSocketAddress(address, server.port())),
                        transport,
                        options.sessions(),
                        System.nanoTime());
        WriterEnd end = new WriterEnd(session, options.payloadBytes());
        ends.add(end);
        agent.add(end);
        return end;
    }

    /**
     * Sends a chunk, and emits its ticket or the chunk itself; through a shared ring at the next
     * {@link #flush} at the latest.
     *
     * @param chunk with rows of one partition
     * @throws IOException if a session with a receiver has failed, or an address is not usable
     */
    void send(Chunk chunk) throws IOException {
        agent.checkNotFailed();
        List<SendChannel> open = channels;
        if (open.isEmpty()) {
            lookup.checkNotFailed();
            out.emit(chunk, chunk, 0);
            return;
        }
        int target =
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        options.partitions(), open.size(), chunk.partition());
        byte[] bytes = options.encodes() ? encoder.encode(chunk) : chunk.bytes();
        open.get(target).send(chunk, bytes, backPressured);
    }

    /** Whether chunks wait for {@link #flush}. */
    boolean holdsChunks() {
        for (SharedRing ring : sharedRings) {
            if (!ring.isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Emits all chunks that wait in shared rings, or their tickets.
     *
     * @throws SessionException if a session with a receiver has failed
     */
    void flush() throws SessionException {
        for (SharedRing ring : sharedRings) {
            ring.flush(backPressured);
        }
    }

    /** The sending ends of all rings. For any thread. */
    List<WriterEnd> ends() {
        return ends;
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

    /** Count of rings to TaskManagers, once the addresses are known. For any thread. */
    int sharedRings() {
        return sharedRings.size();
    }

    /** Metrics of the rings to TaskManagers. */
    SharedRingMetrics sharedMetrics() {
        return sharedMetrics;
    }

    /** Count of subtasks of the join whose chunks share a ring now. For any thread. */
    int channelsThatShare() {
        return (int) channels.stream().filter(SendChannel::prefersShared).count();
    }

    /**
     * Whether a ring to each subtask of the join is connected.
     *
     * @throws IOException as {@link #send}
     */
    boolean areAllOpen() throws IOException {
        agent.checkNotFailed();
        lookup.checkNotFailed();
        for (WriterEnd end : ends) {
            end.checkNotFailed();
        }
        return !channels.isEmpty() && openRings() == ends.size();
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
