package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetAddress;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;
import java.util.TreeMap;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;

/**
 * Opens the transport of a name. Found by {@link ServiceLoader} beside this class, so a job jar can
 * bring its own.
 */
public interface TransportProvider {

    /** As in {@code gpu-join.transport}. */
    String name();

    /**
     * Opens the transport for one end of an edge, which closes it.
     *
     * @param options of the job
     * @param localAddress the only address to listen on, where the transport listens
     * @throws TransportException without library, device or rights; the message says what to do
     */
    Transport open(RingOptions options, InetAddress localAddress) throws TransportException;

    /**
     * As {@link #open}, for the end that reads, whose rings may lie in GPU memory.
     *
     * @throws TransportException also where they cannot lie there
     */
    default Transport openReader(RingOptions options, InetAddress localAddress)
            throws TransportException {
        return open(options, localAddress);
    }

    /** Whether a sender has a buffer of its own for each ring, as long as the ring. */
    default boolean hasSenderBuffers() {
        return false;
    }

    /**
     * What rings of this transport need besides it.
     *
     * @param taskManager configuration of the process
     */
    default RingHost host(Configuration taskManager) {
        return RingHost.process(taskManager);
    }

    /**
     * The provider of a name.
     *
     * @throws IllegalConfigurationException where there is none
     */
    static TransportProvider named(String name) {
        TreeMap<String, TransportProvider> known = new TreeMap<>();
        ServiceLoader.load(TransportProvider.class, TransportProvider.class.getClassLoader())
                .stream()
                .map(Provider::get)
                .forEach(provider -> known.put(provider.name(), provider));
        TransportProvider provider = known.get(name);
        if (provider == null) {
            throw new IllegalConfigurationException(
                    "a transport is flink or one that is on the class path: known="
                            + known.keySet()
                            + ", transport="
                            + name);
        }
        return provider;
    }
}
