// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.testing.SimulatedFaults;
import io.github.gpujoin.rdma.testing.SimulatedTransport;
import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetAddress;

/**
 * Rings over a simulated network in this process, {@code gpu-join.transport: in-process}, with the
 * faults that a test sets.
 */
public final class InProcessProvider implements TransportProvider {

    private static volatile SimulatedTransport current = simulated(SimulatedFaults.NONE, 0);

    /** Replaces the network by one with the given faults, until the next call. */
    public static void reset(SimulatedFaults faults, long seed) {
        current.close();
        current = simulated(faults, seed);
    }

    private static SimulatedTransport simulated(SimulatedFaults faults, long seed) {
        return new SimulatedTransport(faults, seed, System::nanoTime);
    }

    @Override
    public String name() {
        return "in-process";
    }

    @Override
    public boolean hasSenderBuffers() {
        return true;
    }

    /** Returns the current network to both ends of a ring, since both are in this process. */
    @Override
    public Transport open(RingOptions options, InetAddress localAddress) {
        return shared(current);
    }

    /** Returns one end's view of a transport, which stays open when the end closes its view. */
    public static Transport shared(SimulatedTransport transport) {
        return new Shared(transport);
    }

    /** Leaves the transport open for other ends. An end closes what it registered itself. */
    private record Shared(SimulatedTransport transport) implements OneSidedTransport {

        @Override
        public String name() {
            return transport.name();
        }

        @Override
        public Target registerTarget(long lengthBytes) throws TransportException {
            return transport.registerTarget(lengthBytes);
        }

        @Override
        public RegisteredMemory registerSource(long lengthBytes) throws TransportException {
            return transport.registerSource(lengthBytes);
        }

        @Override
        public Connection connect(byte[] descriptor, RegisteredMemory source)
                throws TransportException {
            return transport.connect(descriptor, source);
        }

        @Override
        public void close() {}
    }
}
