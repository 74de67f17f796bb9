package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.Verbs;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One-sided writes over RDMA verbs. A connection is a reliable queue pair: data and flags share it,
 * so that they arrive in order; its first failure ends it. A target accepts connections on an RDMA
 * port of its own, and closing it revokes its key first.
 *
 * <p>The payload is not encrypted, and whoever knows a target's key can write the target.
 */
public final class DisniTransport implements Transport {

    private static final Logger LOG = LoggerFactory.getLogger(DisniTransport.class);

    /** Writes under way on a connection: two, data and flag, for each of 64 slots. */
    private static final int WRITES_POSTED = 128;

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

    /** What is closed with the transport, unless it was before. */
    interface Given extends AutoCloseable {
        boolean isClosed();
    }

    private final VerbsDevice device;
    private final Deque<Given> given = new ArrayDeque<>();
    private boolean closed;

    /**
     * @param localAddress IPv4 address of a network interface with an RDMA device: the only one
     *     that is listened on
     * @throws TransportException without library, device or rights; the message says what to do
     */
    public DisniTransport(InetAddress localAddress) throws TransportException {
        try {
            device = Verbs.open(localAddress);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    @Override
    public String name() {
        return "disni";
    }

    @Override
    public RegisteredMemory register(long lengthBytes, Access access) throws TransportException {
        if (lengthBytes < 1 || lengthBytes > DisniDescriptor.MAX_TARGET_BYTES) {
            throw new IllegalArgumentException(
                    "registered memory has 1 byte to 1 GiB: lengthBytes=" + lengthBytes);
        }
        try {
            return given(DisniMemory.register(device, lengthBytes, access));
        } catch (IOException e) {
            throw failed(e);
        }
    }

    @Override
    public Connection connect(byte[] descriptor, RegisteredMemory source)
            throws TransportException {
        DisniDescriptor target = DisniDescriptor.decode(descriptor);
        if (!(source instanceof DisniMemory memory)) {
            throw new IllegalArgumentException(
                    "a source is memory of the same transport: source=" + source);
        }
        try {
            QueuePair pair = device.connect(target.listener(), WRITES_POSTED, CONNECT_TIMEOUT);
            return given(new DisniConnection(pair, memory.registration(), target));
        } catch (IOException e) {
            throw failed(e);
        }
    }

    /** Keeps what is to be closed with this transport; closes it at once where that is too late. */
    private synchronized <T extends Given> T given(T made) throws TransportException {
        if (closed) {
            closeQuietly(made, name());
            throw new TransportException("a transport gives out nothing once it is closed: disni");
        }
        given.removeIf(Given::isClosed);
        given.push(made);
        return made;
    }

    private static TransportException failed(IOException cause) {
        return new TransportException(cause.getMessage(), cause);
    }

    /**
     * Whether closing succeeded; a failure is logged, since the caller has nothing to do about it.
     */
    static boolean closeQuietly(AutoCloseable resource, String what) {
        try {
            resource.close();
            return true;
        } catch (Exception e) {
            LOG.warn("A {} was not closed as it should be", what, e);
            return false;
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        while (!given.isEmpty()) {
            closeQuietly(given.pop(), name());
        }
        closeQuietly(device, "device");
    }
}
