// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.disni;

import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.OwnedResources;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.verbs.RemoteAccess;
import io.github.gpujoin.rdma.verbs.Verbs;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One-sided writes over RDMA verbs.
 *
 * <p>A connection is a reliable queue pair. Data and flags share it, so they arrive in order; its
 * first failure ends it. Each target accepts connections on an RDMA port of its own. Closing a
 * target revokes its key first.
 *
 * <p>The payload is not encrypted, and a process that knows a target's key can write the target.
 */
public final class DisniTransport implements OneSidedTransport {

    /** Limit of in-flight writes of a connection: data and flag for each of 64 slots. */
    private static final int QUEUE_DEPTH = 128;

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

    private final VerbsDevice device;
    private final OwnedResources resources = new OwnedResources("disni");

    /** Null if targets are in host memory. */
    private final @Nullable GpuTargets gpu;

    /**
     * Opens the device of an address, with targets in host memory.
     *
     * @param localAddress IPv4 address of a network interface with an RDMA device; the transport
     *     listens on no other
     * @throws TransportException if the native library, a device or a permission is missing
     */
    public DisniTransport(InetAddress localAddress) throws TransportException {
        this(localAddress, null);
    }

    /**
     * Opens the device of an address, with targets in GPU memory (GPUDirect RDMA). Untested on
     * hardware: {@link #registerTarget} fails if adapter, kernel or GPU do not support it.
     *
     * @param localAddress as above
     * @param gpu closed with the transport, or here on failure; null for targets in host memory
     * @throws TransportException if the native library, a device or a permission is missing
     */
    public DisniTransport(InetAddress localAddress, @Nullable GpuTargets gpu)
            throws TransportException {
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
            return resources.add(
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
            return resources.add(DisniMemory.register(device, lengthBytes, RemoteAccess.NONE));
        } catch (IOException e) {
            throw failed(e);
        }
    }

    @Override
    public Connection connect(byte[] descriptor, RegisteredMemory source)
            throws TransportException {
        DisniDescriptor target = DisniDescriptor.decode(descriptor);
        if (!(source instanceof DisniMemory memory)) {
            throw new IllegalArgumentException("Source of another transport: source=" + source);
        }
        return resources.add(
                new DisniConnection(
                        () -> device.connect(target.listener(), QUEUE_DEPTH, CONNECT_TIMEOUT),
                        memory.registration(),
                        target));
    }

    private static TransportException failed(IOException cause) {
        return new TransportException(cause.getMessage(), cause);
    }

    @Override
    public void close() {
        if (resources.close()) {
            OwnedResources.closeQuietly(device, "device");
            closeGpu();
        }
    }

    private void closeGpu() {
        if (gpu != null) {
            OwnedResources.closeQuietly(gpu.rings(), "GPU");
        }
    }
}
