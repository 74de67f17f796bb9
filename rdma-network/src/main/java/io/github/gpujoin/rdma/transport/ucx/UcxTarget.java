package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.rdma.transport.GivenOut;
import io.github.gpujoin.rdma.transport.Target;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpMemory;

/** Memory that UCX allocated where peers can write it. All but its address is the acceptor's. */
final class UcxTarget implements Target, GivenOut.Item {

    private final UcxAcceptor acceptor;
    private final UcpMemory memory;
    private final long token;
    private final long lengthBytes;
    private final byte[] descriptor;
    private UcpEndpoint writer;
    private UcxEndpoints.Closing closing;
    private volatile boolean closed;
    private volatile boolean over;

    /**
     * @param lengthBytes asked for; UCX may have given more
     */
    UcxTarget(
            UcxAcceptor acceptor,
            UcpMemory memory,
            long token,
            long lengthBytes,
            byte[] descriptor) {
        this.acceptor = acceptor;
        this.memory = memory;
        this.token = token;
        this.lengthBytes = lengthBytes;
        this.descriptor = descriptor;
    }

    long token() {
        return token;
    }

    UcpMemory memory() {
        return memory;
    }

    /** The endpoint that was accepted for this target, or null; under the acceptor's lock. */
    UcpEndpoint writer() {
        return writer;
    }

    void setWriter(UcpEndpoint writer) {
        this.writer = writer;
    }

    /** The end of the writer's endpoint; under the acceptor's lock. */
    UcxEndpoints.Closing closing() {
        return closing;
    }

    void setClosing(UcxEndpoints.Closing closing) {
        this.closing = closing;
    }

    /** Nothing writes it any more, or that is given up; under the acceptor's lock. */
    void setOver() {
        over = true;
    }

    @Override
    public long address() {
        if (closed) {
            throw new IllegalStateException("the target is closed: lengthBytes=" + lengthBytes);
        }
        return memory.getAddress();
    }

    @Override
    public long lengthBytes() {
        return lengthBytes;
    }

    @Override
    public byte[] descriptor() {
        return descriptor.clone();
    }

    @Override
    public boolean isClosed() {
        return over;
    }

    @Override
    public void close() {
        acceptor.revoke(this);
        closed = true;
    }

    @Override
    public void awaitEnd() {
        acceptor.awaitEnd(this);
    }
}
