package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.QueuePairState;
import io.github.gpujoin.rdma.verbs.Registration;
import java.io.IOException;

/**
 * Writes of one queue pair from a registered source into one target. Locked, since closing the
 * transport closes it from another thread, and a queue pair must not be used once it is gone.
 */
final class DisniConnection implements Connection, GivenOut.Item {

    /** How often the connection manager is asked whether the peer left. */
    private static final long PEER_CHECK_NS = 10_000_000;

    private final QueuePair pair;
    private final Registration source;
    private final DisniDescriptor target;
    private long nextPeerCheckNs;

    DisniConnection(QueuePair pair, Registration source, DisniDescriptor target) {
        this.pair = pair;
        this.source = source;
        this.target = target;
        this.nextPeerCheckNs = System.nanoTime() + PEER_CHECK_NS;
    }

    @Override
    public synchronized boolean write(
            long sourceOffsetBytes, long targetOffsetBytes, int lengthBytes)
            throws TransportException {
        Connection.requireExtent("source", sourceOffsetBytes, lengthBytes, source.lengthBytes());
        Connection.requireExtent("target", targetOffsetBytes, lengthBytes, target.lengthBytes());
        requireConnected();
        if (pair.freeWrites() == 0) {
            return false;
        }
        try {
            pair.write(
                    source.address() + sourceOffsetBytes,
                    source.localKey(),
                    target.address() + targetOffsetBytes,
                    target.key(),
                    lengthBytes);
            return true;
        } catch (IOException e) {
            throw broken(e);
        }
    }

    /**
     * Nothing to do: a reliable queue pair executes its writes in the order of their posting, and
     * no region allows relaxed ordering.
     */
    @Override
    public synchronized void flush() throws TransportException {
        requireConnected();
    }

    @Override
    public synchronized void poll() throws TransportException {
        try {
            pair.completedWrites();
            long nowNs = System.nanoTime();
            if (nowNs - nextPeerCheckNs >= 0) {
                nextPeerCheckNs = nowNs + PEER_CHECK_NS;
                pair.checkPeer();
            }
        } catch (IOException e) {
            throw broken(e);
        }
    }

    private void requireConnected() throws TransportException {
        if (pair.state() != QueuePairState.CONNECTED) {
            throw new TransportException(
                    "a connection is used until its first failure: state="
                            + pair.state()
                            + ", peer="
                            + target.peer());
        }
    }

    private TransportException broken(IOException cause) {
        return new TransportException(
                "the connection to " + target.peer() + " is broken: " + cause.getMessage(), cause);
    }

    @Override
    public synchronized void close() {
        GivenOut.closeQuietly(pair, "queue pair");
    }

    @Override
    public boolean isClosed() {
        return pair.state() == QueuePairState.CLOSED;
    }
}
