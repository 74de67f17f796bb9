package io.github.gpujoin.flink.exchange.ring;

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
 * <p>A chunk goes through its ring where that is connected and has room, else through Flink's
 * channel as it is. Either is right at any time, because the receiver takes what it gets in the
 * order of the channel. For the mailbox thread.
 */
final class RingSender implements AutoCloseable {

    /**
     * Longest wait for room. A receiver takes a chunk within that time unless it is held up itself;
     * then the backpressure of Flink's channel is the right one.
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
    private final AddressLookup lookup;
    private final Configuration taskManager;
    private TimerGauge backPressured = new TimerGauge();

    /** Written by the agent's thread, and read once that has ended. */
    private volatile SenderBuffers buffers;

    /** Of each subtask of the join, once the agent's thread has found them. */
    private volatile List<WriterEnd> ends = List.of();

    /**
     * Opens the transport, and connects once the coordinator tells where to.
     *
     * @param taskManager configuration of the process
     * @throws IOException where the transport cannot be had; the message says what to do
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
     * Counts waits for room in a ring.
     *
     * @param backPressured of the task
     */
    void countWaits(TimerGauge backPressured) {
        this.backPressured = backPressured;
    }

    /** Starts to connect to all subtasks of the join; by the agent's thread. */
    private void connect(WriterAddresses addresses) throws IOException {
        List<WriterEnd> made = new ArrayList<>();
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
            made.add(new WriterEnd(session, options.payloadBytes()));
        }
        ends = List.copyOf(made);
        ends.forEach(agent::add);
    }

    /**
     * What is to be sent through Flink's channel: the chunk itself, or a ticket for it, which goes
     * to the same subtask.
     *
     * @param chunk of one partition
     * @throws IOException where a receiver is gone for good, or its address is of no use
     */
    Chunk send(Chunk chunk) throws IOException {
        agent.checkNotFailed();
        List<WriterEnd> known = ends;
        if (known.isEmpty()) {
            lookup.checkNotFailed();
            return chunk;
        }
        int target =
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        options.partitions(), known.size(), chunk.partition());
        long sequence = known.get(target).send(chunk, MAX_WAIT_NS, backPressured);
        if (sequence == WriterEnd.NOT_SENT) {
            return chunk;
        }
        return tickets.write(chunk, sequence);
    }

    /** Slots of connected rings that the join has not given back; for any thread. */
    int occupiedSlots() {
        return ends.stream().filter(WriterEnd::isOpen).mapToInt(WriterEnd::occupiedSlots).sum();
    }

    /** Slots of connected rings that can be written now; for any thread. */
    int credits() {
        return Math.max(0, openRings() * options.slotCount() - occupiedSlots());
    }

    /** Rings that are connected now. */
    int openRings() {
        return (int) ends.stream().filter(WriterEnd::isOpen).count();
    }

    /**
     * Whether there is a ring to each subtask of the join, and all are connected.
     *
     * @throws IOException as {@link #send}
     */
    boolean areAllOpen() throws IOException {
        agent.checkNotFailed();
        lookup.checkNotFailed();
        List<WriterEnd> known = ends;
        for (WriterEnd end : known) {
            end.checkNotFailed();
        }
        return !known.isEmpty() && openRings() == known.size();
    }

    /** Why a ring is not connected. */
    String lastLoss() {
        return ends.stream()
                .filter(end -> !end.isOpen())
                .map(WriterEnd::lastLoss)
                .findFirst()
                .orElse("the join has not announced all its rings");
    }

    /**
     * Whether the join has taken all that was sent.
     *
     * @throws SessionException where a receiver is gone for good
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
        // The ends are known once the agent stands still, which may just be finding them.
        IOUtils.closeAll(
                agent,
                () -> IOUtils.closeAll(ends),
                transport,
                () -> IOUtils.closeAllQuietly(buffers));
    }
}
