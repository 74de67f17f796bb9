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
 * Rings within this process, {@code gpu-join.transport: twin}, with the faults that a test sets.
 */
public final class TwinProvider implements TransportProvider {

    private static volatile TwinTransport twin = twin(TwinFaults.NONE, 0);

    /** Breaks promises from now on, until the next call. */
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

    /** The one twin: both ends of a ring are in this process. */
    @Override
    public Transport open(RingOptions options, InetAddress localAddress) {
        return shared(twin);
    }

    /** One end's view of a twin, which stays open when the end closes its own. */
    public static Transport shared(TwinTransport twin) {
        return new Shared(twin);
    }

    /** Leaves the twin open for the others; what an end registered it closes itself. */
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
