// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.disni;

import io.github.gpujoin.core.thread.UninterruptibleWait;
import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.OwnedResources;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.QueuePairState;
import io.github.gpujoin.rdma.verbs.Registration;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Writes of one queue pair from a registered source into one target.
 *
 * <p>A thread of its own connects, because that takes seconds if the peer does not answer. All
 * methods are synchronized: that thread assigns the queue pair, and closing the transport closes
 * the connection from another thread, after which the queue pair must not be used.
 */
final class DisniConnection implements Connection, OwnedResources.Item {

    /** Creates the queue pair; may block for seconds. */
    @FunctionalInterface
    interface Connector {
        QueuePair connect() throws IOException;
    }

    /** Interval of the checks by the connection manager whether the peer left. */
    private static final long PEER_CHECK_NS = 10_000_000;

    private final Registration source;
    private final DisniDescriptor target;
    private final Thread connecting;

    /** Null until connected. */
    private @Nullable QueuePair pair;

    /** Why connecting failed. */
    private @Nullable Exception refusal;

    private long postedWrites;
    private long completedWriteCount;
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
            OwnedResources.closeQuietly(connected, "queue pair");
        }
    }

    private synchronized void refuse(Exception reason) {
        refusal = reason;
    }

    /**
     * Adopts the queue pair, unless the connection was closed meanwhile.
     *
     * @return false if the connection is closed and the caller must close the queue pair
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
        requireIntact();
        if (pair == null || pair.freeWriteCount() == 0) {
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
     * Needs no action: a reliable queue pair executes writes in posting order, and no region allows
     * relaxed ordering.
     */
    @Override
    public synchronized void flush() throws TransportException {
        requireIntact();
    }

    @Override
    public synchronized void poll() throws TransportException {
        requireIntact();
        if (pair == null) {
            return;
        }
        try {
            completedWriteCount = pair.completedWriteCount();
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
        return completedWriteCount == postedWrites;
    }

    private void requireIntact() throws TransportException {
        if (refusal != null) {
            throw broken(refusal);
        }
        if (closed || (pair != null && pair.state() != QueuePairState.CONNECTED)) {
            throw new TransportException(
                    "Connection is not usable: state="
                            + (pair == null ? QueuePairState.CLOSED : pair.state())
                            + ", peer="
                            + target.peer()
                            + ". Open a new one.");
        }
    }

    private TransportException broken(Exception cause) {
        return new TransportException(
                "Connection to " + target.peer() + " is broken: " + cause.getMessage(), cause);
    }

    /** If the queue pair is still being created, the connecting thread closes it. */
    @Override
    public synchronized void close() {
        closed = true;
        if (pair != null) {
            OwnedResources.closeQuietly(pair, "queue pair");
        }
    }

    @Override
    public synchronized boolean isClosed() {
        return closed && !connecting.isAlive();
    }

    @Override
    public void awaitEnd() {
        UninterruptibleWait.join(connecting);
    }
}
