package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.RemoteRights;
import io.github.gpujoin.rdma.verbs.Verbs;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;

/**
 * One-sided writes over RDMA verbs. A connection is a reliable queue pair: data and flags share it,
 * so that they arrive in order; its first failure ends it. A target accepts connections on an RDMA
 * port of its own, and closing it revokes its key first.
 *
 * <p>The payload is not encrypted, and whoever knows a target's key can write the target.
 */
public final class DisniTransport implements OneSidedTransport {

    /** Writes under way on a connection: two, data and flag, for each of 64 slots. */
    private static final int WRITES_POSTED = 128;

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

    private final VerbsDevice device;
    private final GivenOut given = new GivenOut("disni");

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
    public Target registerTarget(long lengthBytes) throws TransportException {
        Transport.requireRegistrable(lengthBytes);
        try {
            return given.add(DisniTarget.register(device, lengthBytes));
        } catch (IOException e) {
            throw failed(e);
        }
    }

    /**
     * A target in GPU memory (GPUDirect RDMA), off unless this is called. Untested on hardware.
     *
     * <p>Its address is a device pointer, and its ring is read by a kernel. When that sees what was
     * written is said at {@link io.github.gpujoin.rdma.verbs.GpuWriteVisibility}; it checks the
     * checksum of each slot whatever is said there.
     *
     * @param memory of zero bytes; outlives the target
     * @throws TransportException where card, kernel or GPU cannot do that; says what to do
     */
    public Target registerTarget(GpuMemory memory) throws TransportException {
        Transport.requireRegistrable(memory.lengthBytes());
        try {
            return given.add(DisniTarget.register(device, memory));
        } catch (IOException e) {
            throw failed(e);
        }
    }

    @Override
    public RegisteredMemory registerSource(long lengthBytes) throws TransportException {
        Transport.requireRegistrable(lengthBytes);
        try {
            return given.add(DisniMemory.register(device, lengthBytes, RemoteRights.NONE));
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
            return given.add(new DisniConnection(pair, memory.registration(), target));
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private static TransportException failed(IOException cause) {
        return new TransportException(cause.getMessage(), cause);
    }

    @Override
    public void close() {
        if (given.close()) {
            GivenOut.closeQuietly(device, "device");
        }
    }
}
