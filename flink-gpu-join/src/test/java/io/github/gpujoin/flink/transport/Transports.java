package io.github.gpujoin.flink.transport;

import static org.junit.jupiter.api.Assumptions.abort;

import io.github.gpujoin.flink.config.GpuJoinOptions;
import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetAddress;
import org.apache.flink.configuration.Configuration;

/** Which transports this machine has. */
public final class Transports {

    private Transports() {}

    /** Skips the test, with the sentence that says what to install, where there is no such one. */
    public static void assumeInstalled(String transport) {
        RingOptions options =
                RingOptions.of(
                        new Configuration().set(GpuJoinOptions.TRANSPORT, transport), "join", 1);
        try {
            options.openReader(InetAddress.getLoopbackAddress()).close();
        } catch (TransportException e) {
            abort(e.getMessage());
        }
    }
}
