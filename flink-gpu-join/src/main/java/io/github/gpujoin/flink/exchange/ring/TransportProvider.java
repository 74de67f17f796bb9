// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetAddress;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;
import java.util.TreeMap;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;

/**
 * Opens the transport of the rings that {@code gpu-join.transport} names. {@link ServiceLoader}
 * finds providers in the class loader of this class, so a job's jar can contain its own. A provider
 * has a public constructor without parameters; each use creates a new one.
 */
public interface TransportProvider {

    /**
     * Returns the value of {@code gpu-join.transport} that selects this provider; unique among the
     * providers, and not {@code flink}.
     */
    String name();

    /**
     * Opens the transport for one end of an edge. The caller closes it.
     *
     * @param options options of the job's rings
     * @param localAddress the only address on which the transport may listen
     * @throws TransportException if a library, a device or a permission is missing; the message
     *     contains the remedy
     */
    Transport open(RingOptions options, InetAddress localAddress) throws TransportException;

    /**
     * Opens the transport for a reading end, whose rings may lie in GPU memory. The caller closes
     * it. The default is {@link #open}.
     *
     * @throws TransportException as {@link #open}, or if rings cannot lie in GPU memory
     */
    default Transport openReader(RingOptions options, InetAddress localAddress)
            throws TransportException {
        return open(options, localAddress);
    }

    /** Returns whether a sender registers a buffer for each ring, as long as the ring. */
    default boolean hasSenderBuffers() {
        return false;
    }

    /**
     * Returns the control connections and threads for rings of this transport.
     *
     * @param taskManager configuration of the TaskManager
     */
    default RingHost host(Configuration taskManager) {
        return RingHost.process(taskManager);
    }

    /**
     * Returns a new provider of a name.
     *
     * @throws IllegalConfigurationException if no provider has the name; {@code flink} has none
     * @throws java.util.ServiceConfigurationError if a provider cannot be created
     */
    static TransportProvider named(String name) {
        TreeMap<String, TransportProvider> providers = new TreeMap<>();
        ServiceLoader.load(TransportProvider.class, TransportProvider.class.getClassLoader())
                .stream()
                .map(Provider::get)
                .forEach(provider -> providers.put(provider.name(), provider));
        TransportProvider provider = providers.get(name);
        if (provider == null) {
            throw new IllegalConfigurationException(
                    "Unknown transport: %s=%s. Use flink or one of %s.",
                    GpuJoinOptions.TRANSPORT.key(), name, String.join(", ", providers.keySet()));
        }
        return provider;
    }
}
