// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Checks and addresses that descriptors of targets on other hosts share. */
public final class NetworkTarget {

    private static final int MAX_PORT = 65_535;

    private NetworkTarget() {}

    /**
     * Whether a peer's values can describe a target: a port, and 1 byte to {@link
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
     * Returns the address on which a target's process listens.
     *
     * @param ip 4 or 16 bytes
     * @param port 1 to 65535
     */
    public static InetSocketAddress listener(byte[] ip, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(ip), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("Not an IP address: lengthBytes=" + ip.length, e);
        }
    }

    /** Formats a listener's address as {@code host:port}, for messages. */
    public static String peer(InetSocketAddress listener) {
        return listener.getAddress().getHostAddress() + ":" + listener.getPort();
    }
}
