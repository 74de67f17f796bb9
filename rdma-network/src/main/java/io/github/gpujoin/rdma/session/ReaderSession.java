// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.ring.ReadWindow;
import io.github.gpujoin.core.ring.RingException;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.ControlMessage.Accept;
import io.github.gpujoin.rdma.session.ControlMessage.Descriptor;
import io.github.gpujoin.rdma.session.ControlMessage.Mac;
import io.github.gpujoin.rdma.session.ControlMessage.Refuse;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The reading end of a channel: one ring, written by one writer at a time.
 *
 * <p>Each accepted connection is a new epoch with a new target. The transport rejects late writes
 * of an earlier writer, or they reach an epoch that nobody reads. A writer of a later attempt
 * starts at the first sequence; a writer of an earlier attempt is refused.
 *
 * <p>The session waits for its first writer without limit. After a lost connection it fails unless
 * a writer reconnects within the reconnect timeout.
 *
 * <p>For one thread, which must call {@link #step} at least once per heartbeat interval. Between a
 * {@link #poll} that found a payload and its {@link #release} it must not call {@link #step}, which
 * may replace the ring, unless {@link #copyTo} returned false.
 */
public final class ReaderSession implements AutoCloseable {

    /**
     * Credit is sent for a quarter of the ring at once: the writer uses the other three quarters
     * while the message is in flight.
     */
    private static final int CREDIT_BATCHES = 4;

    private final int channel;
    private final RingGeometry geometry;
    private final Transport transport;
    private final SessionOptions options;
    private final AtomicReference<Admission> offered = new AtomicReference<>();

    private ReaderState state = ReaderState.WAITING;
    private long waitingSinceNs;
    private String lastLoss = "No writer connected yet";

    /** The failure of this process that ended the session. */
    private @Nullable Throwable fault;

    private volatile int attempt = -1;
    private long epoch;

    /** The slots of the current attempt that were read; survives connections. */
    private ReadWindow window;

    /** Null unless the state is OPEN. */
    private @Nullable OpenLink link;

    /** Null unless the state is OPEN. */
    private @Nullable ReaderRing ring;

    /**
     * Creates a session that waits for its first writer.
     *
     * @param channel number of the channel, unique in its {@link SessionListener}
     * @param nowNs current time of the clock that {@link #step} receives
     */
    public ReaderSession(
            int channel,
            RingGeometry geometry,
            Transport transport,
            SessionOptions options,
            long nowNs) {
        this.channel = channel;
        this.geometry = geometry;
        this.transport = transport;
        this.options = options;
        this.waitingSinceNs = nowNs;
        this.window = new ReadWindow(geometry.slotCount(), 0);
    }

    /**
     * Offers an authenticated writer, which the next step accepts. A later offer displaces an
     * earlier one. Thread-safe.
     */
    void offer(Admission admission) {
        Admission displaced = offered.getAndSet(admission);
        if (displaced != null) {
            refuse(displaced.link(), Refusal.BUSY);
        }
    }

    /**
     * Accepts a writer, sends credit or receives progress, whatever is due. Never blocks.
     *
     * @param nowNs current time, monotonic
     * @throws SessionException if the session is closed or has failed: no writer reconnected in
     *     time, a slot never arrived intact in several epochs, or this process cannot hold the
     *     ring. The latter two are reported at once, because the writer only sees that its peer is
     *     gone, and the cause must be reported first.
     */
    public void step(long nowNs) throws SessionException {
        if (state == ReaderState.FAILED || state == ReaderState.CLOSED) {
            throw ended(fault);
        }
        Admission admission = offered.getAndSet(null);
        try {
            if (admission != null) {
                admit(admission, nowNs);
            }
            if (state == ReaderState.OPEN) {
                exchange(nowNs);
            }
        } catch (TransportException e) {
            fail(e.getMessage(), e);
            throw ended(e);
        } catch (IOException | RingException e) {
            lose(e.getMessage(), nowNs);
        } catch (InternalError e) {
            fail(RingFault.describe(e), e);
            throw ended(e);
        }
        // The first writer may start at any time: only the owner knows whether one will.
        if (state == ReaderState.WAITING
                && epoch > 0
                && nowNs - waitingSinceNs > options.reconnectTimeoutNs()) {
            state = state.to(ReaderState.FAILED);
            throw ended(new IOException(lastLoss));
        }
    }

    private void admit(Admission admission, long nowNs) throws IOException {
        int newAttempt = admission.hello().attempt();
        if (newAttempt < attempt) {
            refuse(admission.link(), Refusal.STALE_ATTEMPT);
            return;
        }
        if (state == ReaderState.OPEN) {
            lose("Another connection of this channel replaced it", nowNs);
        }
        if (newAttempt > attempt) {
            attempt = newAttempt;
            window = new ReadWindow(geometry.slotCount(), 0);
        }
        epoch++;
        try {
            ring =
                    new ReaderRing(
                            channel, attempt, geometry, epoch, window, transport, options, nowNs);
            Accept accept =
                    new Accept(
                            epoch,
                            window.releasedSequence(),
                            geometry,
                            new Descriptor(ring.descriptor()),
                            new Mac(new byte[Mac.BYTES]));
            admission
                    .link()
                    .send(
                            admission
                                    .token()
                                    .sign(admission.hello(), admission.readerNonce(), accept));
        } catch (IOException | RuntimeException e) {
            admission.link().close();
            revoke();
            throw e;
        }
        link = new OpenLink(admission.link(), epoch, window.releasedSequence(), options, nowNs);
        if (epoch == 1) {
            lastLoss = "None";
        }
        state = state.to(ReaderState.OPEN);
    }

    private void exchange(long nowNs) throws IOException {
        ring.requireArrived(link.receiveProgress(nowNs), nowNs);
        int batch = Math.max(1, geometry.slotCount() / CREDIT_BATCHES);
        link.sendProgress(window.releasedSequence(), window.takenSequence(), batch, nowNs);
    }

    /**
     * Whether the next slot contains a payload; {@link #copyTo} verifies it. False without a
     * connection, and if the session fails here, which the next {@link #step} reports.
     */
    public boolean poll() {
        return state == ReaderState.OPEN && orFail(ReaderRing::poll, false);
    }

    /**
     * Length in bytes of the payload that {@link #poll} found.
     *
     * @throws IllegalStateException unless {@link #poll} found a payload on this connection
     */
    public int lengthBytes() {
        return requireRing().lengthBytes();
    }

    /**
     * Copies the payload that {@link #poll} found, and verifies the copy.
     *
     * @param payload of {@link #lengthBytes()}; its content is undefined if the slot is torn
     * @return false if the slot is torn or the session fails here. Call {@link #step}, which
     *     reports a failure, then {@link #poll} again; if the slot stays torn for the slot timeout,
     *     a new epoch resends it
     * @throws IllegalStateException unless {@link #poll} found a payload on this connection
     * @throws IllegalArgumentException if the array has another length
     */
    public boolean copyTo(byte[] payload) {
        requireRing();
        return orFail(ready -> ready.copyTo(payload), false);
    }

    /**
     * Releases the slot that {@link #copyTo} copied. A later step returns it to the writer as
     * credit.
     *
     * @throws IllegalStateException unless {@link #copyTo} returned true
     */
    public void release() {
        requireRing().release();
    }

    /**
     * Takes the payload that {@link #poll} found, in place. A lost connection revokes the memory,
     * so that no later connection writes to it.
     *
     * @param verifies whether the slot's checksum is verified here in any case; if not, it is if a
     *     network may write to the slot late, because no retransmission repairs a payload that is
     *     taken
     * @return null if the slot is torn or the session fails here, as for {@link #copyTo}
     * @throws IllegalStateException unless {@link #poll} found a payload on this connection, in
     *     host memory
     */
    public @Nullable TakenSlot take(boolean verifies) {
        if (!requireRing().isReadableInPlace()) {
            throw new IllegalStateException("Ring is not in host memory: channel=" + channel);
        }
        return orFail(ready -> ready.take(verifies), null);
    }

    /**
     * Address of the payload that {@link #poll} found, whose bytes may change.
     *
     * @throws IllegalStateException unless {@link #poll} found a payload on this connection
     */
    public long payloadAddress() {
        return requireRing().payloadAddress();
    }

    /** Whether the ring is in host memory, where payloads can be taken. */
    public boolean isReadableInPlace() {
        return ring != null && ring.isReadableInPlace();
    }

    /** A read of the ring's memory. */
    @FunctionalInterface
    private interface Read<T> {
        T of(ReaderRing ring) throws TransportException;
    }

    /** Reads memory, or fails the session, which the next {@link #step} reports. */
    private <T> T orFail(Read<T> read, T ifFailed) {
        try {
            return read.of(ring);
        } catch (TransportException e) {
            fail(e.getMessage(), e);
        } catch (InternalError e) {
            fail(RingFault.describe(e), e);
        }
        return ifFailed;
    }

    private ReaderRing requireRing() {
        if (ring == null) {
            throw new IllegalStateException(
                    "No payload to read: state=" + state + ". Call poll() first.");
        }
        return ring;
    }

    private void lose(String reason, long nowNs) {
        lastLoss = reason;
        waitingSinceNs = nowNs;
        disconnect();
        if (state == ReaderState.OPEN) {
            state = state.to(ReaderState.WAITING);
        }
    }

    /** Fails the session; the current or the next step throws the exception. */
    private void fail(String reason, Throwable cause) {
        lastLoss = reason;
        fault = cause;
        disconnect();
        state = state.to(ReaderState.FAILED);
    }

    private void disconnect() {
        if (link != null) {
            link.close();
            link = null;
        }
        revoke();
    }

    private void revoke() {
        if (ring != null) {
            ring.close();
            ring = null;
        }
    }

    private SessionException ended(Throwable cause) {
        return new SessionException(
                "Session has ended: channel="
                        + channel
                        + ", state="
                        + state
                        + ", reconnectTimeoutMs="
                        + TimeUnit.NANOSECONDS.toMillis(options.reconnectTimeoutNs())
                        + ", reason="
                        + lastLoss,
                cause);
    }

    static void refuse(ControlLink link, Refusal reason) {
        try {
            link.send(new Refuse(reason));
        } catch (IOException e) {
            // the peer is gone already
        } finally {
            link.close();
        }
    }

    public int channel() {
        return channel;
    }

    /** Attempt of the last accepted writer, -1 before the first. Thread-safe. */
    public int attempt() {
        return attempt;
    }

    /** Number of accepted connections. */
    public long epoch() {
        return epoch;
    }

    /** Last sequence up to which this attempt's reader released all; 0 before the first. */
    public long releasedSequence() {
        return window.releasedSequence();
    }

    /** Last sequence that this attempt's reader copied or took; 0 before the first. */
    public long readSequence() {
        return window.takenSequence();
    }

    /** Number of slots for which the writer has no credit, since they were taken. */
    public int heldCount() {
        return window.heldCount();
    }

    public ReaderState state() {
        return state;
    }

    /** Reason of the last lost connection or of the failure; never null. */
    public String lastLoss() {
        return lastLoss;
    }

    /**
     * Closes the link, revokes the ring and refuses a writer that waits. Legal in any state;
     * idempotent.
     */
    @Override
    public void close() {
        if (state == ReaderState.CLOSED) {
            return;
        }
        if (link != null) {
            link.sendBye();
        }
        disconnect();
        state = state.to(ReaderState.CLOSED);
        Admission admission = offered.getAndSet(null);
        if (admission != null) {
            refuse(admission.link(), Refusal.CHANNEL);
        }
    }
}
