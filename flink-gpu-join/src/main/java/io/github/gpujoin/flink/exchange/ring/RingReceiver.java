// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.rdma.session.SessionException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import org.apache.flink.core.fs.AutoCloseableRegistry;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rings into one subtask of the join: rings of its own, and rings that it shares with the other
 * subtasks of its TaskManager ({@link RingOptions#sharing}).
 *
 * <p>Each attempt of the subtask opens new rings with a new secret, so the tokens of an earlier
 * attempt are invalid. For the mailbox thread.
 */
public final class RingReceiver implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RingReceiver.class);

    private final AutoCloseableRegistry resources = new AutoCloseableRegistry();
    private final Map<Integer, RingInput> inputs = new HashMap<>();
    private final List<RingInput> factInputs = new ArrayList<>();

    /** Null without rings of its own. */
    private @Nullable RingServer own;

    /** Null if it shares no rings. */
    private @Nullable SharedRings shared;

    private TimerGauge idle = new TimerGauge();

    private RingReceiver() {}

    /**
     * Opens a ring for each writer, and announces the addresses to the coordinator.
     *
     * @param writers attempts of the subtasks that send chunks, by side, in the order of subtasks
     * @param task of the subtask
     * @param coordinator of the join
     * @param memory in which the rings are reserved before they are opened
     * @throws IOException if the transport or the address is not available; the message contains
     *     the remedy
     */
    public static RingReceiver open(
            RingOptions options,
            Map<JoinSide, List<ExecutionAttemptID>> writers,
            RingTask task,
            OperatorEventGateway coordinator,
            RingReservations memory)
            throws IOException {
        RingReceiver receiver = new RingReceiver();
        try {
            receiver.open(options, writers, task, memory);
            coordinator.sendEventToCoordinator(
                    new ReaderAddress(
                            receiver.own == null ? null : receiver.own.endpoint(),
                            receiver.shared == null ? null : receiver.shared.endpoint()));
            return receiver;
        } catch (IOException | RuntimeException | Error e) {
            IOUtils.closeQuietly(receiver);
            throw e;
        }
    }

    private void open(
            RingOptions options,
            Map<JoinSide, List<ExecutionAttemptID>> writers,
            RingTask task,
            RingReservations memory)
            throws IOException {
        if (options.gpuDirect() != null) {
            LOG.warn("{}: task={}", options.gpuDirect(), task.name());
        }
        if (options.isShared()) {
            shared =
                    SharedRings.use(
                            new SharedRings.Key(
                                    task.job(), options.join(), task.process(), writers),
                            options,
                            channels(writers, RingTicket::sharedChannel),
                            task.taskManager(),
                            memory);
            resources.registerCloseable(shared);
            shared.inputs().forEach(this::add);
        }
        List<Integer> channels = channels(writers, RingTicket::channel);
        if (options.offersOwnRings(channels.size())) {
            long lengthBytes = options.hostBytes(channels.size());
            AutoCloseable reserved =
                    options.isShared()
                            ? memory.tryReserve(lengthBytes)
                            : memory.reserve(lengthBytes);
            if (reserved != null) {
                resources.registerCloseable(reserved);
                openOwn(options, channels, task);
            }
        }
    }

    private void openOwn(RingOptions options, List<Integer> channels, RingTask task)
            throws IOException {
        own =
                RingServer.open(
                        task.name(),
                        options,
                        Rendezvous.uuid(task.job()),
                        channels,
                        session -> {
                            ReaderEnd end =
                                    new ReaderEnd(
                                            session,
                                            options.maxHeldSlots(),
                                            options.maxArrivalNs());
                            add(session.channel(), end);
                            return end;
                        },
                        task.taskManager());
        resources.registerCloseable(own);
    }

    private static List<Integer> channels(
            Map<JoinSide, List<ExecutionAttemptID>> writers,
            BiFunction<JoinSide, Integer, Integer> channelOf) {
        List<Integer> channels = new ArrayList<>();
        writers.forEach(
                (side, attempts) -> {
                    for (int subtask = 0; subtask < attempts.size(); subtask++) {
                        channels.add(channelOf.apply(side, subtask));
                    }
                });
        return channels;
    }

    private void add(int channel, RingInput input) {
        inputs.put(channel, input);
        if (RingTicket.sideOf(channel) == JoinSide.PROBE) {
            factInputs.add(input);
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
        if (own != null) {
            own.checkNotFailed();
        }
        if (shared != null) {
            shared.checkNotFailed();
        }
        if (!RingTicket.isTicket(arrived)) {
            return arrived;
        }
        RingInput input = inputs.get(RingTicket.channelOf(arrived));
        if (input == null) {
            throw new IllegalStateException(
                    "Ticket of an unknown ring: channel="
                            + RingTicket.channelOf(arrived)
                            + ", rings="
                            + inputs.size());
        }
        return input.receive(arrived, access, cancelled, idle);
    }

    /** Returns the bytes of facts that the CPU copied out of the rings. Thread-safe. */
    public long payloadBytesCopied() {
        return factInputs.stream().mapToLong(RingInput::payloadBytesCopied).sum();
    }

    /** Returns the number of slots of facts for which their writers have no credit. Thread-safe. */
    public int heldSlots() {
        return factInputs.stream().mapToInt(RingInput::heldSlots).sum();
    }

    /** Whether the next chunk of each ring of facts may be read in place. */
    public boolean hasRoom() {
        return factInputs.stream().allMatch(RingInput::hasRoom);
    }

    @Override
    public void close() throws Exception {
        resources.close();
    }
}
