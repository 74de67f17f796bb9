package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.transport.twin.TwinFaults;
import io.github.gpujoin.rdma.transport.twin.TwinTransport;
import java.net.InetAddress;

/**
 * Rings within this process, {@code gpu-join.transport: twin}, with faults of the test's choice.
 */
public final class TwinProvider implements TransportProvider {

    private static volatile TwinTransport twin = twin(TwinFaults.NONE, 0);

    /** Replaces the transport by one with the given faults. */
    public static void reset(TwinFaults faults, long seed) {
        twin.close();
        twin = twin(faults, seed);
    }

    private static TwinTransport twin(TwinFaults faults, long seed) {
        return new TwinTransport(faults, seed, System::nanoTime);
    }

    @Override
    public String name() {
        return "twin";
    }

    @Override
    public boolean hasSenderBuffers() {
        return true;
    }

    /** Returns the twin of this process, which both ends of a ring share. */
    @Override
    public Transport open(RingOptions options, InetAddress localAddress) {
        return shared(twin);
    }

    /** Returns a view of a twin. Closing the view leaves the twin open. */
    public static Transport shared(TwinTransport twin) {
        return new Shared(twin);
    }

    /** View of a twin. Each end closes the memory that it registered. */
    private record Shared(TwinTransport twin) implements OneSidedTransport {

        @Override
        public String name() {
            return twin.name();
        }

        @Override
        public Target registerTarget(long lengthBytes) throws TransportException {
            return twin.registerTarget(lengthBytes);
        }

        @Override
        public RegisteredMemory registerSource(long lengthBytes) throws TransportException {
            return twin.registerSource(lengthBytes);
        }

        @Override
        public Connection connect(byte[] descriptor, RegisteredMemory source)
                throws TransportException {
            return twin.connect(descriptor, source);
        }

        @Override
        public void close() {}
    }
}
