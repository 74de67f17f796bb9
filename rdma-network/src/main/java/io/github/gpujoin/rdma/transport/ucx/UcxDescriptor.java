package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.rdma.transport.NetworkTarget;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Where a target of {@link UcxTransport} is and by which key it is written. Little-endian; IPv4
 * addresses stand in their IPv6 form:
 *
 * <pre>
 *   offset  0         4         8        24        32        40        48          52
 *          | version | port    | IPv6   | token   | address | length  | keyLength | key ...
 * </pre>
 *
 * @param listener where the target's process accepts endpoints
 * @param token what an endpoint shows to be accepted: random, and of this target alone
 * @param address the target's first byte in the peer's process
 * @param key the target's remote key, as UCX packed it
 */
record UcxDescriptor(
        InetSocketAddress listener, long token, long address, long lengthBytes, byte[] key) {

    static final int VERSION = 1;
    static final int KEY_OFFSET = 52;

    private static final int IPV6_BYTES = 16;
    private static final byte[] IPV4_PREFIX = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

    /**
     * @throws TransportException where the key is too long
     */
    byte[] encode() throws TransportException {
        if (key.length == 0 || KEY_OFFSET + key.length > Transport.MAX_DESCRIPTOR_BYTES) {
            throw new TransportException(
                    "a descriptor holds a key of 1 to "
                            + (Transport.MAX_DESCRIPTOR_BYTES - KEY_OFFSET)
                            + " bytes: keyBytes="
                            + key.length
                            + " (fewer of UCX's transports make it shorter)");
        }
        byte[] ip = listener.getAddress().getAddress();
        ByteBuffer out =
                ByteBuffer.allocate(KEY_OFFSET + key.length)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(VERSION)
                        .putInt(listener.getPort());
        if (ip.length < IPV6_BYTES) {
            out.put(IPV4_PREFIX);
        }
        return out.put(ip)
                .putLong(token)
                .putLong(address)
                .putLong(lengthBytes)
                .putInt(key.length)
                .put(key)
                .array();
    }

    /** Checks every field against this side's own bounds; the key is UCX's to read. */
    static UcxDescriptor decode(byte[] bytes) throws TransportException {
        if (bytes.length <= KEY_OFFSET || bytes.length > Transport.MAX_DESCRIPTOR_BYTES) {
            throw new TransportException(
                    "a descriptor of ucx has %d to %d bytes: lengthBytes=%d"
                            .formatted(
                                    KEY_OFFSET + 1, Transport.MAX_DESCRIPTOR_BYTES, bytes.length));
        }
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int version = in.getInt();
        int port = in.getInt();
        byte[] ip = new byte[IPV6_BYTES];
        in.get(ip);
        long token = in.getLong();
        long address = in.getLong();
        long lengthBytes = in.getLong();
        int keyBytes = in.getInt();
        if (version != VERSION
                || !NetworkTarget.isValid(port, address, lengthBytes)
                || keyBytes != bytes.length - KEY_OFFSET) {
            throw new TransportException(
                    "a descriptor of ucx has version %d, a port, a target of 1 byte to 1 GiB, and a key to its end: version=%d, port=%d, address=%d, lengthBytes=%d, keyBytes=%d"
                            .formatted(VERSION, version, port, address, lengthBytes, keyBytes));
        }
        byte[] key = Arrays.copyOfRange(bytes, KEY_OFFSET, bytes.length);
        return new UcxDescriptor(
                NetworkTarget.listener(ip, port), token, address, lengthBytes, key);
    }

    /** The listener, for messages. */
    String peer() {
        return NetworkTarget.peer(listener);
    }
}
