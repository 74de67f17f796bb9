package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.ring.RingException;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.ring.RingReader;
import io.github.gpujoin.core.ring.SlotState;
import io.github.gpujoin.rdma.session.ControlMessage.Accept;
import io.github.gpujoin.rdma.session.ControlMessage.Descriptor;
import io.github.gpujoin.rdma.session.ControlMessage.Mac;
import io.github.gpujoin.rdma.session.ControlMessage.Refuse;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The reading end of a channel: one ring, written by one writer at a time.
 *
 * <p>Every accepted connection is an epoch of its own, with a target of its own: what an earlier
 * writer still sends is refused by the transport, or finds an epoch that nobody reads. A writer of
 * a later attempt starts at the first sequence again; one of an earlier attempt is turned away.
 *
 * <p>For one thread, which calls {@link #step} often: at least every heartbeat interval. A payload
 * is read from {@link #poll} until {@link #release}, with no step between.
 */
public final class ReaderSession implements AutoCloseable {

    /** A quarter of the ring: the writer has the other three while the message is under way. */
    private static final int CREDIT_BATCHES = 4;

    private final int channel;
    private final RingGeometry geometry;
    private final Transport transport;
    private final SessionOptions options;
    private final AtomicReference<Admission> offered = new AtomicReference<>();

    private ReaderState state = ReaderState.WAITING;
    private long waitingSinceNs;
    private String lastLoss = "no writer came yet";

    /** Why the session failed, null unless it did by a fault of this process. */
    private Throwable fault;

    private volatile int attempt = -1;
    private long epoch;
    private long releasedSequence;

    /** While OPEN. */
    private OpenLink link;

    private Target target;
    private RingReader ring;
    private long missingSequence;
    private long missingSinceNs;
    private long lookedAtNs;

    /**
     * @param nowNs of the clock that {@link #step} is given
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
    }

    /** Hands a writer over, to be accepted by the next step; any thread. The last one wins. */
    void offer(Admission admission) {
        Admission displaced = offered.getAndSet(admission);
        if (displaced != null) {
            refuse(displaced.link(), Refusal.BUSY);
        }
    }

    /**
     * Goes on with what is to be done now. Never blocks.
     *
     * @throws SessionException once the session has failed: no writer came back in time, or this
     *     process cannot hold the ring. The latter is reported at once: to the writer it looks as
     *     if its peer were gone, and the first cause is the one to report.
     */
    public void step(long nowNs) throws SessionException {
        if (state == ReaderState.FAILED || state == ReaderState.CLOSED) {
            throw over(fault);
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
            throw over(e);
        } catch (IOException | RingException e) {
            lose(e.getMessage(), nowNs);
        } catch (InternalError e) {
            fail(RingFault.describe(e), e);
            throw over(e);
        }
        // The first writer may take any time to start; only the owner knows whether it comes.
        if (state == ReaderState.WAITING
                && epoch > 0
                && nowNs - waitingSinceNs > options.reconnectTimeoutNs()) {
            state = state.to(ReaderState.FAILED);
            throw over(new IOException(lastLoss));
        }
    }

    private void admit(Admission admission, long nowNs) throws IOException {
        int newAttempt = admission.hello().attempt();
        if (newAttempt < attempt) {
            refuse(admission.link(), Refusal.STALE_ATTEMPT);
            return;
        }
        if (state == ReaderState.OPEN) {
            lose("another connection took its place", nowNs);
        }
        if (newAttempt > attempt) {
            attempt = newAttempt;
            releasedSequence = 0;
        }
        epoch++;
        try {
            target = transport.registerTarget(geometry.lengthBytes());
            Accept accept =
                    new Accept(
                            epoch,
                            releasedSequence,
                            geometry,
                            new Descriptor(target.descriptor()),
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
        ring = new RingReader(target.view(), geometry, epoch, releasedSequence);
        link = new OpenLink(admission.link(), epoch, releasedSequence, options, nowNs);
        missingSequence = 0;
        lookedAtNs = nowNs;
        state = state.to(ReaderState.OPEN);
    }

    private void exchange(long nowNs) throws IOException {
        long announced = link.hear(nowNs);
        checkNothingIsMissing(announced, nowNs);
        int batch = Math.max(1, geometry.slotCount() / CREDIT_BATCHES);
        link.tell(releasedSequence, batch, nowNs);
    }

    /** A slot that was announced but is lost or torn comes again with the next epoch. */
    private void checkNothingIsMissing(long announced, long nowNs) throws IOException {
        if (nowNs - lookedAtNs < options.heartbeatIntervalNs()) {
            return; // a look reads the whole slot
        }
        lookedAtNs = nowNs;
        target.requireWhole();
        long next = releasedSequence + 1;
        if (announced < next || ring.poll() == SlotState.READY) {
            missingSequence = 0;
        } else if (missingSequence != next) {
            missingSequence = next;
            missingSinceNs = nowNs;
        } else if (nowNs - missingSinceNs > options.slotTimeoutNs()) {
            throw new IOException(
                    "a slot that was announced arrives whole: sequence="
                            + next
                            + ", announced="
                            + announced
                            + ", found="
                            + ring.poll());
        }
    }

    /** Whether a payload was sent; {@link #copyTo} says whether it is there. */
    public boolean poll() {
        if (state != ReaderState.OPEN) {
            return false;
        }
        try {
            target.requireWhole();
            return ring.peek() == SlotState.READY;
        } catch (TransportException e) {
            fail(e.getMessage(), e);
        } catch (InternalError e) {
            fail(RingFault.describe(e), e);
        }
        return false;
    }

    /** Bytes of the payload that {@link #poll} found. */
    public int lengthBytes() {
        return ready().lengthBytes();
    }

    /**
     * Copies the payload that {@link #poll} found; what is copied is whole, or refused.
     *
     * @param payload of {@link #lengthBytes()}
     * @return false where it is not whole: {@link #poll} again after a step, which has it sent
     *     anew, in another epoch, where it stays so for the slot timeout
     */
    public boolean copyTo(byte[] payload) {
        RingReader ready = ready();
        try {
            target.requireWhole();
            return ready.copyTo(payload);
        } catch (TransportException e) {
            fail(e.getMessage(), e);
        } catch (InternalError e) {
            fail(RingFault.describe(e), e);
        }
        return false;
    }

    /** Is done with the payload that {@link #copyTo} gave; it will not come again. */
    public void release() {
        ready().release();
        releasedSequence = ring.releasedSequence();
    }

    private RingReader ready() {
        if (ring == null) {
            throw new IllegalStateException(
                    "a payload is read after poll() found it: state=" + state);
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

    /** The next step reports it, if this one does not. */
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
        ring = null;
        if (target != null) {
            target.close();
            target = null;
        }
    }

    private SessionException over(Throwable cause) {
        return new SessionException(
                "the session is over: channel="
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
            // it is gone already
        } finally {
            link.close();
        }
    }

    public int channel() {
        return channel;
    }

    /** Attempt of the last writer that was accepted, -1 before the first; any thread. */
    public int attempt() {
        return attempt;
    }

    /** Number of connections accepted. */
    public long epoch() {
        return epoch;
    }

    public long releasedSequence() {
        return releasedSequence;
    }

    public ReaderState state() {
        return state;
    }

    /** Why there is, or last was, no connection. */
    public String lastLoss() {
        return lastLoss;
    }

    /** Legal in any state, and twice. */
    @Override
    public void close() {
        if (state == ReaderState.CLOSED) {
            return;
        }
        if (link != null) {
            link.sayBye();
        }
        disconnect();
        state = state.to(ReaderState.CLOSED);
        Admission admission = offered.getAndSet(null);
        if (admission != null) {
            refuse(admission.link(), Refusal.CHANNEL);
        }
    }
}
