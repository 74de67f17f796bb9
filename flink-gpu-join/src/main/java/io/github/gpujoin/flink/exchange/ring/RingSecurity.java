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
 * Turns what a TaskManager's configuration says of security into the control connections of its
 * rings, or into the reason why there can be none.
 *
 * <table>
 *   <caption>What an address needs</caption>
 *   <tr><th>address</th><th>{@code security.ssl.internal.enabled}</th>
 *       <th>{@code gpu-join.ring.allow-unencrypted-payload}</th></tr>
 *   <tr><td>loopback</td><td>as it is: TLS where it is on</td><td>not asked</td></tr>
 *   <tr><td>another one of the host</td><td>on</td><td>true</td></tr>
 *   <tr><td>wildcard, multicast</td><td colspan="2">refused</td></tr>
 * </table>
 *
 * <p>TLS is Flink's own: its key and trust store, protocols, cipher suites and certificate
 * fingerprint, and certificates of both ends, as between Flink's own processes.
 */
public final class RingSecurity {

    private static final Set<String> PROTOCOLS = Set.of("TLSv1.2", "TLSv1.3");

    private RingSecurity() {}

    /**
     * Sockets for control connections.
     *
     * @param taskManager configuration of the process, not of the job: key stores are files of the
     *     host, and who submits a job does not decide how safe the host is
     * @param address to listen on, or to connect to
     * @throws IllegalConfigurationException where the combination is not safe, or Flink's SSL is on
     *     and not complete
     */
    public static ControlSockets controlSockets(Configuration taskManager, InetAddress address) {
        requireOneHost(address);
        boolean encrypted = SecurityOptions.isInternalSSLEnabled(taskManager);
        if (!address.isLoopbackAddress()) {
            requireSafeBeyondHost(taskManager, encrypted, address);
        }
        return encrypted ? internalSsl(taskManager) : ControlSockets.PLAIN;
    }

    private static void requireOneHost(InetAddress address) {
        if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
            throw new IllegalConfigurationException(
                    "rings listen on one address of the host, by which others reach it: address=%s",
                    address.getHostAddress());
        }
    }

    private static void requireSafeBeyondHost(
            Configuration taskManager, boolean encrypted, InetAddress address) {
        if (!encrypted) {
            throw new IllegalConfigurationException(
                    "rings that other hosts reach need Flink's internal SSL, by which both ends"
                            + " prove themselves: address=%s, %s=false",
                    address.getHostAddress(), SecurityOptions.SSL_INTERNAL_ENABLED.key());
        }
        if (!taskManager.get(GpuJoinOptions.RING_ALLOW_UNENCRYPTED_PAYLOAD)) {
            throw new IllegalConfigurationException(
                    "rings do not encrypt rows, which a TaskManager must allow before they leave"
                            + " its host: address=%s, %s=false",
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
                    "rings speak TLSv1.2 or TLSv1.3: %s=%s",
                    SecurityOptions.SSL_PROTOCOL.key(), String.join(",", protocols));
        }
        try {
            return new ControlSockets(
                    SSLUtils.createSSLServerSocketFactory(taskManager),
                    SSLUtils.createSSLClientSocketFactory(taskManager));
        } catch (Exception e) {
            throw new IllegalConfigurationException(
                    "Flink's internal SSL is on and must be complete: " + e.getMessage(), e);
        }
    }
}
