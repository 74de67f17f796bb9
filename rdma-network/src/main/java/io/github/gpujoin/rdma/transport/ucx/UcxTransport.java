package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.GivenOut;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.net.NetworkInterface;
import java.net.SocketException;
import org.openucx.jucx.ucp.UcpContext;

/**
 * One-sided writes over UCX, by whichever of its transports the options name.
 *
 * <p>A target is allocated and registered by UCX; a source is plain memory, which UCX registers
 * where a network card reads it. A process with targets listens on one port, in a thread of this
 * transport ({@link UcxAcceptor}); a connection has no thread ({@link UcxConnection}).
 *
 * <p>The payload is not encrypted. Over TCP a peer that was accepted can write anywhere in this
 * process; see docs/security.md.
 */
public final class UcxTransport implements OneSidedTransport {

    private final UcxOptions options;
    private final UcpContext context;
    private final UcxEndpoints endpoints;
    private final GivenOut given = new GivenOut("ucx");
    private UcxAcceptor acceptor;
    private boolean closed;

    /**
     * @throws TransportException without UCX, or without one of the transports named; the message
     *     says what to do
     */
    public UcxTransport(UcxOptions options) throws TransportException {
        this.options = options;
        this.context = UcxLibrary.open(options);
        this.endpoints = new UcxEndpoints(options);
    }

    @Override
    public String name() {
        return "ucx";
    }

    @Override
    public Target registerTarget(long lengthBytes) throws TransportException {
        Transport.requireRegistrable(lengthBytes);
        return given.add(acceptor().register(lengthBytes));
    }

    /** Listens from the first target on. */
    private synchronized UcxAcceptor acceptor() throws TransportException {
        if (closed) {
            throw new TransportException("a transport registers nothing once it is closed: ucx");
        }
        if (acceptor == null) {
            acceptor = new UcxAcceptor(context, endpoints, options.address());
        }
        return acceptor;
    }

    @Override
    public RegisteredMemory registerSource(long lengthBytes) throws TransportException {
        Transport.requireRegistrable(lengthBytes);
        return given.add(new UcxSource(Region.allocateZeroed(lengthBytes)));
    }

    @Override
    public Connection connect(byte[] descriptor, RegisteredMemory source)
            throws TransportException {
        UcxDescriptor target = UcxDescriptor.decode(descriptor);
        if (options.isSharedMemory()) {
            requireThisHost(target);
        }
        if (!(source instanceof UcxSource memory)) {
            throw new IllegalArgumentException(
                    "a source is memory of the same transport: source=" + source);
        }
        return given.add(UcxConnection.open(context, endpoints, target, memory));
    }

    /** Without shared memory UCX would use TCP, and end the process where that fails. */
    private void requireThisHost(UcxDescriptor target) throws TransportException {
        try {
            if (NetworkInterface.getByInetAddress(target.listener().getAddress()) == null) {
                throw new TransportException(
                        "UCX's shared memory joins processes of one host: transports="
                                + options.transports()
                                + ", peer="
                                + target.peer());
            }
        } catch (SocketException e) {
            throw new TransportException("the network interfaces cannot be read: " + e, e);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (given.close()) {
            if (acceptor != null) {
                acceptor.close();
            }
            if (endpoints.areAllClosed()) {
                context.close();
            }
        }
    }
}
