package io.github.gpujoin.flink.transport;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.transport.WriterAddresses.Target;
import io.github.gpujoin.rdma.session.AttemptToken;
import io.github.gpujoin.rdma.session.ControlSockets;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.TcpControlLink;
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
    private final Configuration taskManager;
    private final Transport transport;
    private final SessionAgent agent;
    private final RingTicket.Writer tickets;
    private final List<WriterEnd> ends = new ArrayList<>();
    private List<Target> targets = List.of();

    /**
     * Opens the transport, and connects when addresses come.
     *
     * @param taskManager configuration of the process
     * @throws IOException where the transport cannot be had; the message says what to do
     */
    RingSender(
            RingOptions options,
            JoinInput input,
            JobInfo job,
            TaskInfo task,
            Configuration taskManager)
            throws IOException {
        this.options = options;
        this.job = Rendezvous.uuid(job.getJobId());
        this.task = task;
        this.channel = RingTicket.channel(input, task.getIndexOfThisSubtask());
        this.tickets = new RingTicket.Writer(channel);
        this.taskManager = taskManager;
        this.transport = options.open(options.localAddress(taskManager));
        this.agent = new SessionAgent(task.getTaskNameWithSubtasks());
    }

    /**
     * Starts to connect to all subtasks of the join.
     *
     * @throws IllegalStateException where other addresses were given before
     * @throws IOException where an address is none
     */
    void connect(WriterAddresses addresses) throws IOException {
        if (!targets.isEmpty()) {
            throw new IllegalStateException(
                    "a join restarts together with those who send to it: task="
                            + task.getTaskNameWithSubtasks()
                            + ", connectedTo="
                            + targets
                            + ", told="
                            + addresses);
        }
        targets = addresses.targets();
        for (Target target : targets) {
            InetAddress address = InetAddress.getByName(target.host());
            ControlSockets sockets = RingSecurity.controlSockets(taskManager, address);
            WriterSession session =
                    new WriterSession(
                            job,
                            task.getAttemptNumber(),
                            channel,
                            new AttemptToken(target.token()),
                            TcpControlLink.dialer(
                                    new InetSocketAddress(address, target.port()), sockets),
                            transport,
                            options.sessions(),
                            System.nanoTime());
            WriterEnd end = new WriterEnd(session, options.payloadBytes());
            ends.add(end);
            agent.add(end);
        }
    }

    /**
     * What is to be sent through Flink's channel: the chunk itself, or a ticket for it, which goes
     * to the same subtask.
     *
     * @param chunk of one partition
     * @throws SessionException where a receiver is gone for good
     */
    Chunk send(Chunk chunk) throws SessionException {
        if (ends.isEmpty()) {
            return chunk;
        }
        int target =
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        options.partitions(), ends.size(), chunk.partition());
        long sequence = ends.get(target).send(chunk, MAX_WAIT_NS);
        if (sequence == WriterEnd.NOT_SENT) {
            return chunk;
        }
        return tickets.write(chunk, sequence);
    }

    /** Rings that are connected now. */
    int openRings() {
        return (int) ends.stream().filter(WriterEnd::isOpen).count();
    }

    /**
     * Whether the join has taken all that was sent.
     *
     * @throws SessionException where a receiver is gone for good
     */
    boolean isDrained() throws SessionException {
        for (WriterEnd end : ends) {
            if (!end.isDrained()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() throws Exception {
        List<AutoCloseable> inOrder = new ArrayList<>();
        inOrder.add(agent);
        inOrder.addAll(ends);
        inOrder.add(transport);
        IOUtils.closeAll(inOrder);
    }
}
