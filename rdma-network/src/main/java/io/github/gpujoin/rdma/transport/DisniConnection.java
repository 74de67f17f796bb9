package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.QueuePairState;
import io.github.gpujoin.rdma.verbs.Registration;
import java.io.IOException;

/**
 * Writes of one queue pair from a registered source into one target. Another thread connects, which
 * takes seconds where the peer does not answer. Locked for its sake, and since closing the
 * transport closes it from another thread, and a queue pair must not be used once it is gone.
 */
final class DisniConnection implements Connection, GivenOut.Item {

    /** Makes the queue pair; may take seconds. */
    @FunctionalInterface
    interface Connector {
        QueuePair connect() throws IOException;
    }

    /** How often the connection manager is asked whether the peer left. */
    private static final long PEER_CHECK_NS = 10_000_000;

    private final Registration source;
    private final DisniDescriptor target;
    private final Thread connecting;

    /** Null before it is connected. */
    private QueuePair pair;

    /** Why there is no queue pair, or null. */
    private Exception refusal;

    private long postedWrites;
    private long completedWrites;
    private long nextPeerCheckNs;
    private boolean closed;

    DisniConnection(Connector connector, Registration source, DisniDescriptor target) {
        this.source = source;
        this.target = target;
        this.nextPeerCheckNs = System.nanoTime() + PEER_CHECK_NS;
        this.connecting = new Thread(() -> connect(connector), "disni-connect-" + target.peer());
        connecting.setDaemon(true);
        connecting.start();
    }

    private void connect(Connector connector) {
        QueuePair connected = null;
        try {
            connected = connector.connect();
        } catch (IOException | RuntimeException e) {
            refuse(e);
        }
        if (connected != null && !take(connected)) {
            GivenOut.closeQuietly(connected, "queue pair");
        }
    }

    private synchronized void refuse(Exception reason) {
        refusal = reason;
    }

    /**
     * @return whether somebody still wants it
     */
    private synchronized boolean take(QueuePair connected) {
        if (!closed) {
            pair = connected;
        }
        return !closed;
    }

    @Override
    public synchronized boolean isConnected() {
        return pair != null;
    }

    @Override
    public synchronized boolean write(
            long sourceOffsetBytes, long targetOffsetBytes, int lengthBytes)
            throws TransportException {
        Connection.requireExtent("source", sourceOffsetBytes, lengthBytes, source.lengthBytes());
        Connection.requireExtent("target", targetOffsetBytes, lengthBytes, target.lengthBytes());
        requireWhole();
        if (pair == null || pair.freeWrites() == 0) {
            return false;
        }
        try {
            postedWrites =
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
        requireWhole();
    }

    @Override
    public synchronized void poll() throws TransportException {
        requireWhole();
        if (pair == null) {
            return;
        }
        try {
            completedWrites = pair.completedWrites();
            long nowNs = System.nanoTime();
            if (nowNs - nextPeerCheckNs >= 0) {
                nextPeerCheckNs = nowNs + PEER_CHECK_NS;
                pair.checkPeer();
            }
        } catch (IOException e) {
            throw broken(e);
        }
    }

    @Override
    public synchronized boolean isIdle() {
        return completedWrites == postedWrites;
    }

    private void requireWhole() throws TransportException {
        if (refusal != null) {
            throw broken(refusal);
        }
        if (closed || (pair != null && pair.state() != QueuePairState.CONNECTED)) {
            throw new TransportException(
                    "a connection is used until its first failure: state="
                            + (pair == null ? QueuePairState.CLOSED : pair.state())
                            + ", peer="
                            + target.peer());
        }
    }

    private TransportException broken(Exception cause) {
        return new TransportException(
                "the connection to " + target.peer() + " is broken: " + cause.getMessage(), cause);
    }

    /** A queue pair that is still being made is closed once it is there. */
    @Override
    public synchronized void close() {
        closed = true;
        if (pair != null) {
            GivenOut.closeQuietly(pair, "queue pair");
        }
    }

    @Override
    public synchronized boolean isClosed() {
        return closed && !connecting.isAlive();
    }

    @Override
    public void awaitEnd() {
        Threads.joinUninterruptibly(connecting);
    }
}
