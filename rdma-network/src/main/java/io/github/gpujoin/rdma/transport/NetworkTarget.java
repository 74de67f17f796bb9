package io.github.gpujoin.rdma.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** What descriptors of targets on other hosts have in common. */
public final class NetworkTarget {

    private static final int MAX_PORT = 65_535;

    private NetworkTarget() {}

    /**
     * Whether a peer's numbers can be those of a target: a port, and 1 byte to {@link
     * Transport#MAX_REGISTERED_BYTES} within the address space.
     */
    public static boolean isValid(int port, long address, long lengthBytes) {
        return port >= 1
                && port <= MAX_PORT
                && lengthBytes >= 1
                && lengthBytes <= Transport.MAX_REGISTERED_BYTES
                && address > 0
                && address <= Long.MAX_VALUE - lengthBytes;
    }

    /**
     * Where a target's process listens.
     *
     * @param ip 4 or 16 bytes
     * @param port of a valid target
     */
    public static InetSocketAddress listener(byte[] ip, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(ip), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 or 16 bytes are an address: " + ip.length, e);
        }
    }

    /** A listener, for messages. */
    public static String peer(InetSocketAddress listener) {
        return listener.getAddress().getHostAddress() + ":" + listener.getPort();
    }
}
