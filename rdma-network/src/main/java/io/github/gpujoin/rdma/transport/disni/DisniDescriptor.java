// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.disni;

import io.github.gpujoin.rdma.transport.NetworkTarget;
import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Address and key of a target of {@link DisniTransport}. Little-endian:
 *
 * <pre>
 *   offset  0         4         8        12        16        24        32
 *          | version | IPv4    | port    | key     | address | length  |
 * </pre>
 *
 * @param listener address that accepts the target's queue pairs
 * @param key the target's remote key
 * @param address of the target's first byte in the peer's process
 */
record DisniDescriptor(InetSocketAddress listener, int key, long address, long lengthBytes) {

    static final int VERSION = 1;
    static final int LENGTH_BYTES = 32;

    private static final int IPV4_BYTES = 4;

    byte[] encode() {
        return ByteBuffer.allocate(LENGTH_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(VERSION)
                .put(listener.getAddress().getAddress())
                .putInt(listener.getPort())
                .putInt(key)
                .putLong(address)
                .putLong(lengthBytes)
                .array();
    }

    /** Decodes untrusted bytes and checks every field against this side's bounds. */
    static DisniDescriptor decode(byte[] bytes) throws TransportException {
        if (bytes.length != LENGTH_BYTES) {
            throw new TransportException(
                    "Descriptor of a wrong length: expectedBytes=%d, lengthBytes=%d"
                            .formatted(LENGTH_BYTES, bytes.length));
        }
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int version = in.getInt();
        byte[] ipv4 = new byte[IPV4_BYTES];
        in.get(ipv4);
        int port = in.getInt();
        int key = in.getInt();
        long address = in.getLong();
        long lengthBytes = in.getLong();
        if (version != VERSION || !NetworkTarget.isValid(port, address, lengthBytes)) {
            throw new TransportException(
                    "Invalid descriptor: version=%d, port=%d, address=%d, lengthBytes=%d. Expected version %d and 1 byte to 1 GiB."
                            .formatted(version, port, address, lengthBytes, VERSION));
        }
        return new DisniDescriptor(NetworkTarget.listener(ipv4, port), key, address, lengthBytes);
    }

    /** Formats the listener's address, for messages. */
    String peer() {
        return NetworkTarget.peer(listener);
    }
}
