package io.github.gpujoin.rdma.session;

import io.github.gpujoin.rdma.session.ControlMessage.Bye;
import io.github.gpujoin.rdma.session.ControlMessage.Progress;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * A control connection after its handshake: progress in both directions, which is also the sign of
 * life. Either side is the same here.
 */
final class OpenLink implements AutoCloseable {

    private final ControlLink link;
    private final long epoch;
    private final SessionOptions options;
    private long heardAtNs;
    private long toldAtNs;
    private long heardSequence;
    private long toldSequence;

    OpenLink(
            ControlLink link,
            long epoch,
            long releasedSequence,
            SessionOptions options,
            long nowNs) {
        this.link = link;
        this.epoch = epoch;
        this.options = options;
        this.heardAtNs = nowNs;
        this.toldAtNs = nowNs;
        this.heardSequence = releasedSequence;
        this.toldSequence = releasedSequence;
    }

    /**
     * Receives what came.
     *
     * @return the peer's last sequence
     * @throws IOException where the peer is gone, silent, or broke the protocol
     */
    long hear(long nowNs) throws IOException {
        ControlMessage message;
        while ((message = link.receive()) != null) {
            heardAtNs = nowNs;
            if (message instanceof Bye) {
                throw new PeerClosedException("the peer closed its end: peer=" + link.peer());
            }
            if (!(message instanceof Progress progress)
                    || progress.epoch() != epoch
                    || progress.sequence() < heardSequence) {
                throw new ProtocolException(
                        "after the accept comes progress of its epoch, which only grows: epoch="
                                + epoch
                                + ", heard="
                                + heardSequence
                                + ", message="
                                + message);
            }
            heardSequence = progress.sequence();
        }
        if (nowNs - heardAtNs > options.peerTimeoutNs()) {
            throw new IOException(
                    "the peer is silent: peer="
                            + link.peer()
                            + ", silentMs="
                            + TimeUnit.NANOSECONDS.toMillis(nowNs - heardAtNs));
        }
        return heardSequence;
    }

    /** Tells of our progress once it has grown by a batch, and as a heartbeat. */
    void tell(long sequence, int batch, long nowNs) {
        if (sequence - toldSequence >= batch || nowNs - toldAtNs >= options.heartbeatIntervalNs()) {
            try {
                link.send(new Progress(epoch, sequence));
            } catch (IOException e) {
                // Hearing tells why: what the peer said before it went comes before the end.
                return;
            }
            toldSequence = sequence;
            toldAtNs = nowNs;
        }
    }

    /** Tells the peer that this is no failure; whether it hears it does not matter. */
    void sayBye() {
        try {
            link.send(new Bye());
        } catch (IOException e) {
            // the peer is gone before us
        }
    }

    @Override
    public void close() {
        link.close();
    }

    /** The peer ended the session in order. */
    static final class PeerClosedException extends IOException {

        private static final long serialVersionUID = 1;

        PeerClosedException(String message) {
            super(message);
        }
    }
}
