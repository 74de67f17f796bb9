package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.GivenOut;
import io.github.gpujoin.rdma.transport.TransportException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes of one endpoint, with a worker of its own, which moves on only where the caller writes and
 * polls: there is no other thread.
 *
 * <p>UCX has no fence between writes of one endpoint over every transport, so a flush is a flush:
 * nothing is written until UCX says that all before has arrived. Locked, since closing the
 * transport closes it from another thread.
 */
final class UcxConnection implements Connection, GivenOut.Item {

    private static final Logger LOG = LoggerFactory.getLogger(UcxConnection.class);

    /** Writes under way: two, data and flag, for each of 64 slots. */
    private static final int MAX_UNDER_WAY = 128;

    private static final int MAX_TURNS = 64;
    private static final long IDLE_NS = 20_000;
    private static final long CONNECT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    /**
     * UCX reads a key without being told its length: 64 parts of 256 bytes and a header at most.
     */
    private static final int MAX_KEY_BYTES = 1 << 15;

    private final UcxDescriptor target;
    private final UcxSource source;
    private final UcxEndpoints endpoints;
    private final UcpWorker worker;
    private UcpEndpoint endpoint;
    private UcpRemoteKey key;
    private int underWay;
    private boolean flushing;
    private String failure;
    private boolean closed;

    /** From the close of an endpoint on. */
    private UcxEndpoints.Closing closing;

    /** Whether nothing is under way any more, or it is given up. */
    private boolean over;

    private final long startNs = System.nanoTime();

    private final UcxCallback written =
            new UcxCallback() {
                @Override
                public void onSuccess(UcpRequest request) {
                    underWay--;
                }

                @Override
                public void onError(int status, String message) {
                    fail(message);
                }
            };

    private final UcxCallback flushed =
            new UcxCallback() {
                @Override
                public void onSuccess(UcpRequest request) {
                    flushing = false;
                }

                @Override
                public void onError(int status, String message) {
                    fail(message);
                }
            };

    private UcxConnection(
            UcpContext context, UcxEndpoints endpoints, UcxDescriptor target, UcxSource source) {
        this.endpoints = endpoints;
        this.target = target;
        this.source = source;
        this.worker =
                context.newWorker(
                        new UcpWorkerParams().requestThreadSafety().setClientId(target.token()));
        source.enter();
    }

    /** Starts to connect; nobody waits, for a thread may drive many sessions. */
    static UcxConnection open(
            UcpContext context, UcxEndpoints endpoints, UcxDescriptor target, UcxSource source) {
        UcxConnection connection = new UcxConnection(context, endpoints, target, source);
        connection.connect();
        return connection;
    }

    private synchronized void connect() {
        UcpEndpointParams params =
                new UcpEndpointParams()
                        .setSocketAddress(target.listener())
                        .sendClientId()
                        .setErrorHandler((failed, status, message) -> fail(message));
        try {
            endpoint = endpoints.open(worker, params);
            flushing = true;
            endpoint.flushNonBlocking(flushed);
        } catch (UcxException e) {
            fail(e.getMessage()); // the next poll tells
        }
    }

    /** The first flush has ended: UCX knows by which transports it reaches the peer. */
    private void unpackKey() {
        ByteBuffer bytes = ByteBuffer.allocateDirect(MAX_KEY_BYTES);
        try {
            key = endpoint.unpackRemoteKey(bytes.put(target.key()).flip());
        } catch (UcxException e) {
            fail(e.getMessage());
        }
    }

    @Override
    public synchronized boolean write(
            long sourceOffsetBytes, long targetOffsetBytes, int lengthBytes)
            throws TransportException {
        Connection.requireExtent("source", sourceOffsetBytes, lengthBytes, source.lengthBytes());
        Connection.requireExtent("target", targetOffsetBytes, lengthBytes, target.lengthBytes());
        requireWhole();
        if (key == null || flushing || underWay == MAX_UNDER_WAY) {
            return false;
        }
        underWay++;
        try {
            endpoint.putNonBlocking(
                    source.address() + sourceOffsetBytes,
                    lengthBytes,
                    target.address() + targetOffsetBytes,
                    key,
                    written);
        } catch (UcxException e) {
            fail(e.getMessage());
        }
        requireWhole();
        return true;
    }

    @Override
    public synchronized boolean isConnected() {
        return key != null;
    }

    @Override
    public synchronized void flush() throws TransportException {
        requireWhole();
        if (key == null) {
            return; // nothing was written yet
        }
        flushing = true;
        try {
            endpoint.flushNonBlocking(flushed);
        } catch (UcxException e) {
            fail(e.getMessage());
        }
        requireWhole();
    }

    @Override
    public synchronized void poll() throws TransportException {
        requireWhole();
        if (key == null && System.nanoTime() - startNs > CONNECT_TIMEOUT_NS) {
            fail("no answer in time");
        }
        try {
            progress();
        } catch (UcxException e) {
            fail(e.getMessage());
        }
        requireWhole();
        if (key == null && !flushing) {
            unpackKey();
            requireWhole();
        }
    }

    private void progress() {
        for (int turn = 0; turn < MAX_TURNS; turn++) {
            if (UcxEndpoints.progress(worker) == 0) {
                return;
            }
        }
    }

    @Override
    public synchronized boolean isIdle() {
        return underWay == 0 && !flushing;
    }

    private void fail(String message) {
        if (failure == null) {
            failure = message;
        }
    }

    private void requireWhole() throws TransportException {
        if (closed || failure != null) {
            throw broken();
        }
    }

    private TransportException broken() {
        String reason = failure == null ? "it was closed" : failure;
        return new TransportException(
                key == null && !closed
                        ? "the peer must listen, and accepts a target's token once: peer="
                                + target.peer()
                                + ", cause="
                                + reason
                        : "the connection to " + target.peer() + " is broken: " + reason);
    }

    /**
     * Asked as others are opened; with each answer UCX goes on with what closing left under way.
     */
    @Override
    public synchronized boolean isClosed() {
        if (closed && !over) {
            goOn();
        }
        return over;
    }

    /** Does not wait for UCX: whoever closes it drives other sessions, too. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (key != null) {
            key.close();
        }
        if (endpoint == null) {
            end();
        } else {
            closing = endpoints.close(endpoint);
            goOn();
        }
    }

    private void goOn() {
        try {
            progress();
        } catch (UcxException e) {
            LOG.debug("A connection's worker reports a failure", e);
        }
        over = closing.isOver();
        if (closing.hasEnded()) {
            end();
        }
    }

    private void end() {
        over = true;
        worker.close();
        source.leave();
    }

    @Override
    public void awaitEnd() {
        while (!isClosed()) {
            LockSupport.parkNanos(IDLE_NS);
        }
    }
}
