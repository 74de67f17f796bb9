// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.rdma.session.ControlMessage.Bye;
import io.github.gpujoin.rdma.session.ControlMessage.Progress;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * A control connection after its handshake. Both sides send progress, which is also the heartbeat;
 * reader and writer behave alike here.
 */
final class OpenLink implements AutoCloseable {

    private final ControlLink link;
    private final long epoch;
    private final SessionOptions options;
    private long lastReceivedNs;
    private long lastSentNs;
    private long receivedSequence;
    private long receivedTakenSequence;
    private long sentSequence;

    OpenLink(
            ControlLink link,
            long epoch,
            long releasedSequence,
            SessionOptions options,
            long nowNs) {
        this.link = link;
        this.epoch = epoch;
        this.options = options;
        this.lastReceivedNs = nowNs;
        this.lastSentNs = nowNs;
        this.receivedSequence = releasedSequence;
        this.receivedTakenSequence = releasedSequence;
        this.sentSequence = releasedSequence;
    }

    /**
     * Receives all messages that have arrived.
     *
     * @return the peer's last sequence
     * @throws IOException if the peer left, timed out or violated the protocol
     */
    long receiveProgress(long nowNs) throws IOException {
        ControlMessage message;
        while ((message = link.receive()) != null) {
            lastReceivedNs = nowNs;
            if (message instanceof Bye) {
                throw new PeerClosedException("Peer closed the session: peer=" + link.peer());
            }
            if (!(message instanceof Progress progress)
                    || progress.epoch() != epoch
                    || progress.sequence() < receivedSequence
                    || progress.takenSequence() < receivedTakenSequence) {
                throw new ProtocolException(
                        "Unexpected message in an open session: epoch="
                                + epoch
                                + ", lastSequence="
                                + receivedSequence
                                + ", message="
                                + message);
            }
            receivedSequence = progress.sequence();
            receivedTakenSequence = progress.takenSequence();
        }
        if (nowNs - lastReceivedNs > options.peerTimeoutNs()) {
            throw new IOException(
                    "No message from the peer: peer="
                            + link.peer()
                            + ", silentMs="
                            + TimeUnit.NANOSECONDS.toMillis(nowNs - lastReceivedNs));
        }
        return receivedSequence;
    }

    /** Returns the last sequence that the peer reported as taken. */
    long receivedTakenSequence() {
        return receivedTakenSequence;
    }

    /** Sends both sequences once the first has grown by a batch, and as a heartbeat. */
    void sendProgress(long sequence, long takenSequence, int batch, long nowNs) {
        if (sequence - sentSequence >= batch
                || nowNs - lastSentNs >= options.heartbeatIntervalNs()) {
            try {
                link.send(new Progress(epoch, sequence, takenSequence));
            } catch (IOException e) {
                // Receiving reports the reason: earlier messages of the peer come first.
                return;
            }
            sentSequence = sequence;
            lastSentNs = nowNs;
        }
    }

    /** Tells the peer that the session ends without a failure. Delivery does not matter. */
    void sendBye() {
        try {
            link.send(new Bye());
        } catch (IOException e) {
            // the peer has left before
        }
    }

    @Override
    public void close() {
        link.close();
    }

    /** The peer ended the session without a failure. */
    static final class PeerClosedException extends IOException {

        private static final long serialVersionUID = 1;

        PeerClosedException(String message) {
            super(message);
        }
    }
}
