// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.ring.RingException;
import io.github.gpujoin.core.ring.RingWriter;
import io.github.gpujoin.rdma.session.ControlMessage.Accept;
import io.github.gpujoin.rdma.session.ControlMessage.Challenge;
import io.github.gpujoin.rdma.session.ControlMessage.Hello;
import io.github.gpujoin.rdma.session.ControlMessage.Refuse;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The writing end of a channel. It connects, authenticates, and writes slots while it has credit.
 * After a broken connection it reconnects and resumes after the last acknowledged sequence.
 *
 * <p>Payloads stay in a buffer for retransmission until the reader acknowledges them. The session
 * fails if it reaches no reader within the reconnect timeout, from its creation or from the loss of
 * the last connection that reached the reader. For one thread, which must call {@link #step} at
 * least once per heartbeat interval.
 */
public final class WriterSession implements AutoCloseable {

    private final UUID job;
    private final int attempt;
    private final int channel;
    private final AttemptToken token;
    private final ControlLink.Dialer dialer;
    private final Transport transport;
    private final SessionOptions options;
    private final SecureRandom random = new SecureRandom();

    private WriterState state = WriterState.DISCONNECTED;
    private long disconnectedAtNs;
    private long retryAtNs;
    private String lastLoss = "The reader was not reached yet";

    /** Why the last connection that reached the reader was lost; null before the first one. */
    private @Nullable String firstLoss;

    /** Why the session failed; null if no exception caused it. */
    private @Nullable Throwable fault;

    /** Link of the current handshake. */
    private @Nullable ControlLink handshakeLink;

    private Hello hello;
    private Nonce readerNonce;
    private long handshakeStartNs;

    /** Null before the first accept. */
    private @Nullable SendBuffer buffer;

    /** Null unless the state is OPEN. */
    private @Nullable OpenLink link;

    /** Whether the transport has reached the reader since the link was opened. */
    private boolean reached;

    /** Last sequence that the reader is known to have taken. */
    private long takenSequence;

    /**
     * Creates a session that connects at its first step.
     *
     * @param token of this job and attempt
     * @param nowNs current time of the clock that {@link #step} receives
     */
    public WriterSession(
            UUID job,
            int attempt,
            int channel,
            AttemptToken token,
            ControlLink.Dialer dialer,
            Transport transport,
            SessionOptions options,
            long nowNs) {
        this.job = job;
        this.attempt = attempt;
        this.channel = channel;
        this.token = token;
        this.dialer = dialer;
        this.transport = transport;
        this.options = options;
        this.disconnectedAtNs = nowNs;
        this.retryAtNs = nowNs;
    }

    /**
     * Copies a payload into the next slot, also while disconnected. Later steps send it.
     *
     * @param base as in {@link io.github.gpujoin.core.region.Memory}
     * @param lengthBytes a positive multiple of 8, at most a slot's payload
     * @return false without credit, before the first connection, after {@link #close}, after the
     *     session failed, and if this call finds the buffer damaged, which the next {@link #step}
     *     reports
     * @throws IllegalArgumentException if the length is out of range
     */
    public boolean tryWrite(Object base, long offset, int lengthBytes) {
        return tryWrite(ring -> ring.tryWrite(base, offset, lengthBytes));
    }

    /**
     * Does the same for a payload whose sum is known, which saves a pass over it.
     *
     * @param payloadSum {@link io.github.gpujoin.core.region.WordSum} from position 1; if it is
     *     wrong, the reader requests the slot again a few times, then fails
     */
    public boolean tryWrite(Object base, long offset, int lengthBytes, long payloadSum) {
        return tryWrite(ring -> ring.tryWrite(base, offset, lengthBytes, payloadSum));
    }

    /**
     * Does the same for a payload of several parts.
     *
     * @param parts as in {@link io.github.gpujoin.core.ring.SlotParts}
     */
    public boolean tryWrite(List<byte[]> parts) {
        return tryWrite(ring -> ring.tryWrite(parts));
    }

    private boolean tryWrite(Predicate<RingWriter> write) {
        if (buffer == null || state == WriterState.FAILED) {
            return false;
        }
        try {
            buffer.requireIntact();
            return write.test(buffer.ring());
        } catch (TransportException e) {
            fail(e.getMessage(), e);
        } catch (InternalError e) {
            fail(RingFault.describe(e), e);
        }
        return false;
    }

    /**
     * Connects, authenticates, sends or receives, whatever is due. Blocks only while the transport
     * connects.
     *
     * @param nowNs current time, monotonic
     * @throws SessionException if the session has failed or is closed
     */
    public void step(long nowNs) throws SessionException {
        try {
            switch (state) {
                case DISCONNECTED -> dial(nowNs);
                case GREETED, PROVEN -> continueHandshake(nowNs);
                case OPEN -> exchange(nowNs);
                case FAILED, CLOSED ->
                        throw new SessionException(
                                "Session has ended: " + describe() + ", reason=" + lastLoss, fault);
            }
        } catch (SessionException e) {
            throw e;
        } catch (OpenLink.PeerClosedException e) {
            lose(e, nowNs);
            // The reader's task has ended, so Flink cancels this one as well. Do not fail at once:
            // Flink might report this failure before the reader's, which is the cause.
            retryAtNs = nowNs + 2 * options.reconnectTimeoutNs();
        } catch (RingException e) {
            throw fail(e.getMessage(), e);
        } catch (IOException e) {
            lose(e, nowNs);
        } catch (InternalError e) {
            throw fail(RingFault.describe(e), e);
        }
    }

    private void dial(long nowNs) throws IOException {
        if (nowNs - disconnectedAtNs > options.reconnectTimeoutNs()) {
            throw fail(lastLoss, null);
        }
        if (nowNs - retryAtNs < 0) {
            return;
        }
        handshakeLink = dialer.dial();
        state = state.to(WriterState.GREETED);
        handshakeStartNs = nowNs;
        hello = new Hello(job, attempt, channel, Nonce.next(random));
        handshakeLink.send(hello);
    }

    private void continueHandshake(long nowNs) throws IOException {
        if (nowNs - handshakeStartNs > options.handshakeTimeoutNs()) {
            throw new IOException(
                    "No answer from the reader in time: peer=" + handshakeLink.peer());
        }
        ControlMessage message = handshakeLink.receive();
        if (message == null) {
            return;
        }
        if (message instanceof Refuse refuse) {
            refused(refuse.reason());
        } else if (message instanceof Challenge challenge && state == WriterState.GREETED) {
            answer(challenge);
        } else if (message instanceof Accept accept && state == WriterState.PROVEN) {
            open(accept, nowNs);
        } else {
            throw new ProtocolException(
                    "Unexpected message in the handshake: state=" + state + ", message=" + message);
        }
    }

    private void refused(Refusal reason) throws IOException {
        IOException refused =
                new IOException(reason.message() + ": refusal=" + reason + ", " + describe());
        throw reason.isRetryable() ? refused : fail(refused.getMessage(), refused);
    }

    private void answer(Challenge challenge) throws IOException {
        if (!token.isChallengeValid(hello, challenge)) {
            throw new ProtocolException(
                    "Reader does not hold the secret of this job: peer=" + handshakeLink.peer());
        }
        readerNonce = challenge.nonce();
        handshakeLink.send(token.proof(hello, readerNonce));
        state = state.to(WriterState.PROVEN);
    }

    private void open(Accept accept, long nowNs) throws IOException {
        if (!token.isAcceptValid(hello, readerNonce, accept)) {
            throw new ProtocolException(
                    "Accept has a wrong authentication code: peer=" + handshakeLink.peer());
        }
        if (buffer == null) {
            buffer = SendBuffer.open(transport, accept);
        } else {
            requireNextEpoch(accept);
            try {
                buffer.requireIntact();
            } catch (TransportException e) {
                throw fail(e.getMessage(), e);
            }
            buffer.connect(accept);
        }
        link =
                new OpenLink(
                        handshakeLink, accept.epoch(), accept.releasedSequence(), options, nowNs);
        handshakeLink = null;
        reached = false;
        state = state.to(WriterState.OPEN);
    }

    private void requireNextEpoch(Accept accept) throws SessionException {
        RingWriter ring = buffer.ring();
        if (!ring.geometry().equals(accept.ring()) || accept.epoch() < ring.epoch()) {
            throw fail(
                    "Reader changed its ring's geometry or returned to an old epoch: ring="
                            + ring.geometry()
                            + ", epoch="
                            + ring.epoch()
                            + ", accept="
                            + accept,
                    null);
        }
    }

    private void exchange(long nowNs) throws IOException {
        // Receive first: after the reader has closed its end, the transport fails as well.
        long released = link.receiveProgress(nowNs);
        buffer.send();
        reached |= buffer.isConnected();
        if (released > buffer.sentSequence()) {
            throw new RingException(
                    "Reader acknowledged a slot that was not sent: sent="
                            + buffer.sentSequence()
                            + ", acknowledged="
                            + released);
        }
        buffer.ring().acknowledge(released);
        receiveTaken();
        // The reader uses this only to detect a lost slot, so the heartbeat interval suffices. A
        // slot in flight is not lost: retransmitting it would add load to the network.
        long arrived = buffer.arrivedSequence();
        link.sendProgress(arrived, arrived, Integer.MAX_VALUE, nowNs);
    }

    /** The reader may have taken slots of an earlier epoch that are not sent again yet. */
    private void receiveTaken() {
        takenSequence = link.receivedTakenSequence();
        if (takenSequence > buffer.ring().writtenSequence()) {
            throw new RingException(
                    "Reader took a slot that was not written: written="
                            + buffer.ring().writtenSequence()
                            + ", taken="
                            + takenSequence);
        }
    }

    private void lose(IOException reason, long nowNs) {
        disconnect();
        // An open control link is not enough: without the transport no payload arrives.
        if (state == WriterState.OPEN && reached) {
            disconnectedAtNs = nowNs;
            firstLoss = reason.getMessage();
            lastLoss = firstLoss;
        } else {
            lastLoss = (firstLoss == null ? "" : firstLoss + "; then: ") + reason.getMessage();
        }
        retryAtNs = nowNs + options.retryIntervalNs();
        if (state != WriterState.DISCONNECTED) {
            state = state.to(WriterState.DISCONNECTED);
        }
    }

    private SessionException fail(String reason, @Nullable Throwable cause) {
        disconnect();
        lastLoss = reason;
        fault = cause;
        if (state != WriterState.FAILED) {
            state = state.to(WriterState.FAILED);
        }
        return new SessionException(
                "Session failed: "
                        + describe()
                        + ", reconnectTimeoutMs="
                        + TimeUnit.NANOSECONDS.toMillis(options.reconnectTimeoutNs())
                        + ", reason="
                        + lastLoss,
                cause);
    }

    private void disconnect() {
        if (buffer != null) {
            buffer.disconnect();
        }
        if (link != null) {
            link.close();
            link = null;
        }
        if (handshakeLink != null) {
            handshakeLink.close();
            handshakeLink = null;
        }
    }

    /** Whether a payload that is written now is sent without reconnecting. */
    public boolean isConnected() {
        return state == WriterState.OPEN && buffer.isConnected();
    }

    /** Whether a slot is free. False before the first connection and after {@link #close}. */
    public boolean hasCredit() {
        return buffer != null && buffer.ring().credits() > 0;
    }

    /**
     * Whether the reader needs nothing that was written again: it has copied each payload, or reads
     * it in memory of its own, which outlives this session. Also true after {@link #close}, which
     * discards the rest.
     */
    public boolean isDrained() {
        return buffer == null || takenSequence == buffer.ring().writtenSequence();
    }

    /** Sequence of the last payload written; 0 before the first and after {@link #close}. */
    public long writtenSequence() {
        return buffer == null ? 0 : buffer.ring().writtenSequence();
    }

    /** Last sequence that the reader acknowledged; 0 before the first and after {@link #close}. */
    public long acknowledgedSequence() {
        return buffer == null ? 0 : buffer.ring().acknowledgedSequence();
    }

    public WriterState state() {
        return state;
    }

    /** Reason of the last failure to connect or of the last lost connection; never null. */
    public String lastLoss() {
        return lastLoss;
    }

    private String describe() {
        return "channel=" + channel + ", job=" + job + ", attempt=" + attempt;
    }

    /** Discards payloads without acknowledgement. Legal in any state; idempotent. */
    @Override
    public void close() {
        if (state == WriterState.CLOSED) {
            return;
        }
        if (link != null) {
            link.sendBye();
        }
        disconnect();
        if (buffer != null) {
            buffer.close();
            buffer = null;
        }
        state = state.to(WriterState.CLOSED);
    }
}
