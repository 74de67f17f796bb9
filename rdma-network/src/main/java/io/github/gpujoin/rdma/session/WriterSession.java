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
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The writing end of a channel: connects, proves itself, writes slots as far as it has credit, and
 * does so again, from the last acknowledged sequence, when the connection broke.
 *
 * <p>Every payload stays where the session can send it again until the reader has acknowledged it.
 * For one thread, which calls {@link #step} often: at least every heartbeat interval.
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
    private String lastLoss = "the reader was not reached yet";

    /** Why the last connection that reached the reader was lost, null before there was one. */
    private String firstLoss;

    /** Why the session failed, null where nothing was thrown. */
    private Throwable fault;

    /** Of the handshake under way. */
    private ControlLink greeted;

    private Hello hello;
    private Nonce readerNonce;
    private long handshakeStartNs;

    /** From the first accept on. */
    private Outbox outbox;

    /** While OPEN. */
    private OpenLink link;

    /** Whether the transport has reached the reader since the link was opened. */
    private boolean reached;

    /**
     * @param token of this job and attempt
     * @param nowNs of the clock that {@link #step} is given
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
     * Takes over a payload, to be written by this and later steps.
     *
     * @param base as in {@link io.github.gpujoin.core.region.Memory}
     * @param lengthBytes whole words, at most a slot's payload
     * @return false without credit, or before the first connection
     */
    public boolean tryWrite(Object base, long offset, int lengthBytes) {
        if (outbox == null) {
            return false;
        }
        try {
            outbox.requireWhole();
            return outbox.ring().tryWrite(base, offset, lengthBytes);
        } catch (TransportException e) {
            fail(e.getMessage(), e);
        } catch (InternalError e) {
            fail(RingFault.describe(e), e);
        }
        return false;
    }

    /**
     * Goes on with what is to be done now. Blocks only while the transport connects.
     *
     * @throws SessionException once the session has failed
     */
    public void step(long nowNs) throws SessionException {
        try {
            switch (state) {
                case DISCONNECTED -> dial(nowNs);
                case GREETED, PROVEN -> shakeHands(nowNs);
                case OPEN -> exchange(nowNs);
                case FAILED, CLOSED ->
                        throw new SessionException(
                                "the session is over: " + describe() + ", reason=" + lastLoss,
                                fault);
            }
        } catch (SessionException e) {
            throw e;
        } catch (OpenLink.PeerClosedException e) {
            lose(e, nowNs);
            // The reader's task is over: Flink ends this one, too. Its own failure is the first
            // cause; to fail here at once could be reported before it.
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
        greeted = dialer.dial();
        state = state.to(WriterState.GREETED);
        handshakeStartNs = nowNs;
        hello = new Hello(job, attempt, channel, Nonce.next(random));
        greeted.send(hello);
    }

    private void shakeHands(long nowNs) throws IOException {
        if (nowNs - handshakeStartNs > options.handshakeTimeoutNs()) {
            throw new IOException("the reader does not answer: peer=" + greeted.peer());
        }
        ControlMessage message = greeted.receive();
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
                    "a handshake goes Hello, Challenge, Proof, Accept: state="
                            + state
                            + ", message="
                            + message);
        }
    }

    private void refused(Refusal reason) throws IOException {
        IOException refused =
                new IOException(reason.sentence() + ": refusal=" + reason + ", " + describe());
        throw reason.isWorthARetry() ? refused : fail(refused.getMessage(), refused);
    }

    private void answer(Challenge challenge) throws IOException {
        if (!token.isChallengeTrue(hello, challenge)) {
            throw new ProtocolException(
                    "the reader does not hold the secret of this job: peer=" + greeted.peer());
        }
        readerNonce = challenge.nonce();
        greeted.send(token.proof(hello, readerNonce));
        state = state.to(WriterState.PROVEN);
    }

    private void open(Accept accept, long nowNs) throws IOException {
        if (!token.isAcceptTrue(hello, readerNonce, accept)) {
            throw new ProtocolException(
                    "an accept carries the reader's code: peer=" + greeted.peer());
        }
        if (outbox == null) {
            outbox = Outbox.open(transport, accept);
        } else {
            requireNextEpoch(accept);
            try {
                outbox.requireWhole();
            } catch (TransportException e) {
                throw fail(e.getMessage(), e);
            }
            outbox.connect(accept);
        }
        link = new OpenLink(greeted, accept.epoch(), accept.releasedSequence(), options, nowNs);
        greeted = null;
        reached = false;
        state = state.to(WriterState.OPEN);
    }

    private void requireNextEpoch(Accept accept) throws SessionException {
        RingWriter ring = outbox.ring();
        if (!ring.geometry().equals(accept.ring()) || accept.epoch() < ring.epoch()) {
            throw fail(
                    "a reader keeps its ring's shape, and epochs grow: ring="
                            + ring.geometry()
                            + ", epoch="
                            + ring.epoch()
                            + ", accept="
                            + accept,
                    null);
        }
    }

    private void exchange(long nowNs) throws IOException {
        // First what the reader said: once it has closed its end, the transport fails as well.
        long released = link.hear(nowNs);
        outbox.send();
        reached |= outbox.isConnected();
        if (released > outbox.sentSequence()) {
            throw new RingException(
                    "a reader acknowledges what was sent: sent="
                            + outbox.sentSequence()
                            + ", acknowledged="
                            + released);
        }
        outbox.ring().acknowledge(released);
        // Only a lost slot makes the reader wait for this, so the heartbeat is soon enough. A slot
        // that is still on its way is none: to send it again would load the network all the more.
        link.tell(outbox.arrivedSequence(), Integer.MAX_VALUE, nowNs);
    }

    private void lose(IOException reason, long nowNs) {
        disconnect();
        // A link alone does not count: without the transport the session is as good as cut off.
        if (state == WriterState.OPEN && reached) {
            disconnectedAtNs = nowNs;
            firstLoss = reason.getMessage();
            lastLoss = firstLoss;
        } else {
            lastLoss = (firstLoss == null ? "" : firstLoss + "; then ") + reason.getMessage();
        }
        retryAtNs = nowNs + options.retryIntervalNs();
        if (state != WriterState.DISCONNECTED) {
            state = state.to(WriterState.DISCONNECTED);
        }
    }

    private SessionException fail(String reason, Throwable cause) {
        disconnect();
        lastLoss = reason;
        fault = cause;
        if (state != WriterState.FAILED) {
            state = state.to(WriterState.FAILED);
        }
        return new SessionException(
                "the session failed: "
                        + describe()
                        + ", reconnectTimeoutMs="
                        + TimeUnit.NANOSECONDS.toMillis(options.reconnectTimeoutNs())
                        + ", reason="
                        + lastLoss,
                cause);
    }

    private void disconnect() {
        if (outbox != null) {
            outbox.disconnect();
        }
        if (link != null) {
            link.close();
            link = null;
        }
        if (greeted != null) {
            greeted.close();
            greeted = null;
        }
    }

    /** Whether what is written now goes to the reader without another attempt to connect. */
    public boolean isConnected() {
        return state == WriterState.OPEN && outbox.isConnected();
    }

    /** Whether {@link #tryWrite} would take a payload. */
    public boolean hasCredit() {
        return outbox != null && outbox.ring().credits() > 0;
    }

    /** Whether the reader has acknowledged all that was written. */
    public boolean isDrained() {
        return outbox == null
                || outbox.ring().acknowledgedSequence() == outbox.ring().writtenSequence();
    }

    /** Sequence of the last payload taken over; 0 before the first. */
    public long writtenSequence() {
        return outbox == null ? 0 : outbox.ring().writtenSequence();
    }

    /** The last sequence that the reader has acknowledged. */
    public long acknowledgedSequence() {
        return outbox == null ? 0 : outbox.ring().acknowledgedSequence();
    }

    public WriterState state() {
        return state;
    }

    /** Why there is, or last was, no connection. */
    public String lastLoss() {
        return lastLoss;
    }

    private String describe() {
        return "channel=" + channel + ", job=" + job + ", attempt=" + attempt;
    }

    /** Gives up what is not acknowledged. Legal in any state, and twice. */
    @Override
    public void close() {
        if (state == WriterState.CLOSED) {
            return;
        }
        if (link != null) {
            link.sayBye();
        }
        disconnect();
        if (outbox != null) {
            outbox.close();
            outbox = null;
        }
        state = state.to(WriterState.CLOSED);
    }
}
