// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.rdma.session.ControlSockets;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.runtime.net.SSLUtils;

/**
 * Creates the sockets of rings' control connections according to the security options of a
 * TaskManager, or rejects unsafe combinations.
 *
 * <table>
 *   <caption>Required options by address</caption>
 *   <tr><th>address</th><th>{@code security.ssl.internal.enabled}</th>
 *       <th>{@code gpu-join.ring.allow-unencrypted-payload}</th></tr>
 *   <tr><td>loopback</td><td>any; TLS if true</td><td>any</td></tr>
 *   <tr><td>other address of the host</td><td>true</td><td>true</td></tr>
 *   <tr><td>wildcard, multicast</td><td colspan="2">rejected</td></tr>
 * </table>
 *
 * <p>TLS uses Flink's options for internal connections: key and trust store, protocols, cipher
 * suites and certificate fingerprint. Both ends authenticate by certificates. TLS protects the
 * control connections only: payload in rings is never encrypted.
 */
public final class RingSecurity {

    private static final Set<String> PROTOCOLS = Set.of("TLSv1.2", "TLSv1.3");

    private RingSecurity() {}

    /**
     * Returns the sockets for control connections.
     *
     * @param taskManager configuration of the process. Options of the job have no effect: key
     *     stores are files of the host, and a job must not weaken the security of the host.
     * @param address to listen on, or to connect to
     * @throws IllegalConfigurationException if the combination is unsafe, Flink's SSL options are
     *     incomplete, or {@code security.ssl.protocol} names another protocol than TLSv1.2 and
     *     TLSv1.3
     */
    public static ControlSockets controlSockets(Configuration taskManager, InetAddress address) {
        requireUnicast(address);
        boolean usesTls = SecurityOptions.isInternalSSLEnabled(taskManager);
        if (!address.isLoopbackAddress()) {
            requireSafeBeyondHost(taskManager, usesTls, address);
        }
        return usesTls ? internalSsl(taskManager) : ControlSockets.PLAIN;
    }

    private static void requireUnicast(InetAddress address) {
        if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
            throw new IllegalConfigurationException(
                    "Rings cannot use a wildcard or multicast address: address=%s. Set %s to one address of this host.",
                    address.getHostAddress(), GpuJoinOptions.RING_BIND_ADDRESS.key());
        }
    }

    private static void requireSafeBeyondHost(
            Configuration taskManager, boolean usesTls, InetAddress address) {
        if (!usesTls) {
            throw new IllegalConfigurationException(
                    "Flink's internal SSL is off, so rings cannot leave this host: address=%s."
                            + " Set %s: true.",
                    address.getHostAddress(), SecurityOptions.SSL_INTERNAL_ENABLED.key());
        }
        if (!taskManager.get(GpuJoinOptions.RING_ALLOW_UNENCRYPTED_PAYLOAD)) {
            throw new IllegalConfigurationException(
                    "Rings would send unencrypted rows to other hosts: address=%s.\n"
                            + "If your network is trusted, set %s: true in each TaskManager.",
                    address.getHostAddress(), GpuJoinOptions.RING_ALLOW_UNENCRYPTED_PAYLOAD.key());
        }
    }

    private static ControlSockets internalSsl(Configuration taskManager) {
        List<String> protocols =
                Stream.of(taskManager.get(SecurityOptions.SSL_PROTOCOL).split(","))
                        .map(String::strip)
                        .toList();
        if (!PROTOCOLS.containsAll(protocols)) {
            throw new IllegalConfigurationException(
                    "Unsupported TLS protocol for rings: %s=%s. Set TLSv1.2 or TLSv1.3.",
                    SecurityOptions.SSL_PROTOCOL.key(), String.join(",", protocols));
        }
        try {
            return new ControlSockets(
                    SSLUtils.createSSLServerSocketFactory(taskManager),
                    SSLUtils.createSSLClientSocketFactory(taskManager));
        } catch (Exception e) {
            throw new IllegalConfigurationException(
                    "Flink's internal SSL is not usable: cause=%s. Check the options security.ssl.internal.*."
                            .formatted(e.getMessage()),
                    e);
        }
    }
}
