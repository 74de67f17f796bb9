package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.GivenOut;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.TransportException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * Writes of one endpoint, with a worker of its own, which moves on only where the caller writes and
 * polls: there is no other thread.
 *
 * <p>UCX has no fence between writes of one endpoint over every transport, so a flush is a flush:
 * nothing is written until UCX says that all before has arrived. Locked, since closing the
 * transport closes it from another thread.
 */
final class UcxConnection implements Connection, GivenOut.Item {

    /** Writes under way: two, data and flag, for each of 64 slots. */
    private static final int MAX_UNDER_WAY = 128;

    private static final int MAX_TURNS = 64;
    private static final long CONNECT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    /**
     * UCX reads a key without being told its length: 64 parts of 256 bytes and a header at most.
     */
    private static final int MAX_KEY_BYTES = 1 << 15;

    private final UcxDescriptor target;
    private final RegisteredMemory source;
    private final UcxEndpoints endpoints;
    private final UcpWorker worker;
    private UcpEndpoint endpoint;
    private UcpRemoteKey key;
    private int underWay;
    private boolean flushing;
    private String failure;
    private boolean closed;

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
            UcpContext context,
            UcxEndpoints endpoints,
            UcxDescriptor target,
            RegisteredMemory source) {
        this.endpoints = endpoints;
        this.target = target;
        this.source = source;
        this.worker =
                context.newWorker(
                        new UcpWorkerParams().requestThreadSafety().setClientId(target.token()));
    }

    static UcxConnection open(
            UcpContext context,
            UcxEndpoints endpoints,
            UcxDescriptor target,
            RegisteredMemory source)
            throws TransportException {
        UcxConnection connection = new UcxConnection(context, endpoints, target, source);
        try {
            connection.connect();
            return connection;
        } catch (UcxException e) {
            connection.close();
            throw connection.unreachable(e.getMessage());
        } catch (TransportException e) {
            connection.close();
            throw e;
        }
    }

    private synchronized void connect() throws TransportException {
        UcpEndpointParams params =
                new UcpEndpointParams()
                        .setSocketAddress(target.listener())
                        .sendClientId()
                        .setErrorHandler((failed, status, message) -> fail(message));
        endpoint = endpoints.open(worker, params);
        UcpRequest reached = endpoint.flushNonBlocking(flushed);
        if (!UcxEndpoints.await(worker, reached, CONNECT_TIMEOUT_NS)) {
            throw unreachable("no answer in time");
        }
        if (failure != null) {
            throw unreachable(failure);
        }
        ByteBuffer bytes = ByteBuffer.allocateDirect(MAX_KEY_BYTES);
        key = endpoint.unpackRemoteKey(bytes.put(target.key()).flip());
    }

    private TransportException unreachable(String cause) {
        return new TransportException(
                "the peer must listen, and accepts a target's token once: peer="
                        + target.peer()
                        + ", cause="
                        + cause);
    }

    @Override
    public synchronized boolean write(
            long sourceOffsetBytes, long targetOffsetBytes, int lengthBytes)
            throws TransportException {
        Connection.requireExtent("source", sourceOffsetBytes, lengthBytes, source.lengthBytes());
        Connection.requireExtent("target", targetOffsetBytes, lengthBytes, target.lengthBytes());
        requireWhole();
        if (flushing || underWay == MAX_UNDER_WAY) {
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
    public synchronized void flush() throws TransportException {
        requireWhole();
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
        try {
            for (int turn = 0; turn < MAX_TURNS; turn++) {
                if (UcxEndpoints.progress(worker) == 0) {
                    break;
                }
            }
        } catch (UcxException e) {
            fail(e.getMessage());
        }
        requireWhole();
    }

    private void fail(String message) {
        if (failure == null) {
            failure = message;
        }
    }

    private void requireWhole() throws TransportException {
        if (closed || failure != null) {
            throw new TransportException(
                    "the connection to "
                            + target.peer()
                            + " is broken: "
                            + (failure == null ? "it was closed" : failure));
        }
    }

    @Override
    public synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (key != null) {
            key.close();
        }
        if (endpoint == null || endpoints.close(worker, endpoint)) {
            worker.close();
        }
    }
}
