package io.github.gpujoin.rdma.transport;

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

    /** Null where targets lie in memory of the host. */
    private final GpuTargets gpu;

    /**
     * @param localAddress IPv4 address of a network interface with an RDMA device: the only one
     *     that is listened on
     * @throws TransportException without library, device or rights; the message says what to do
     */
    public DisniTransport(InetAddress localAddress) throws TransportException {
        this(localAddress, null);
    }

    /**
     * With targets in GPU memory (GPUDirect RDMA). Untested on hardware.
     *
     * @param gpu closed with the transport, or here where it cannot be had; null for targets in
     *     memory of the host
     * @throws TransportException as the other; {@link #registerTarget} also where card, kernel or
     *     GPU cannot do that
     */
    public DisniTransport(InetAddress localAddress, GpuTargets gpu) throws TransportException {
        this.gpu = gpu;
        try {
            device = Verbs.open(localAddress);
        } catch (IOException e) {
            closeGpu();
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
            return given.add(
                    gpu == null
                            ? DisniTarget.register(device, lengthBytes)
                            : DisniTarget.register(device, gpu, lengthBytes));
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
        return given.add(
                new DisniConnection(
                        () -> device.connect(target.listener(), WRITES_POSTED, CONNECT_TIMEOUT),
                        memory.registration(),
                        target));
    }

    private static TransportException failed(IOException cause) {
        return new TransportException(cause.getMessage(), cause);
    }

    @Override
    public void close() {
        if (given.close()) {
            GivenOut.closeQuietly(device, "device");
            closeGpu();
        }
    }

    private void closeGpu() {
        if (gpu != null) {
            GivenOut.closeQuietly(gpu.rings(), "GPU");
        }
    }
}
