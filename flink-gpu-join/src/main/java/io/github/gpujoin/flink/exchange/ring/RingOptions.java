package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.config.JoinConfig;
import io.github.gpujoin.rdma.session.SessionOptions;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * How the payload of a join's edges travels between subtasks.
 *
 * @param transport {@value #FLINK}, or the name of a {@link TransportProvider}
 * @param join name of the join whose ends meet
 * @param partitions radix partitions, one for each key group of the join
 * @param bindAddress host to listen on, unless the TaskManager's own configuration names one
 * @param slotCount chunks that a sender may be ahead of each receiver
 * @param maxRings rings into one subtask of the join
 * @param payloadBytes longest chunk that goes through a ring
 * @param peerTimeoutMs silence after which a peer counts as dead
 * @param openTimeoutMs longest time that a sender's first chunk waits for its rings
 * @param gpuDirect null where rings lie in host memory
 */
public record RingOptions(
        String transport,
        String join,
        int partitions,
        String bindAddress,
        int slotCount,
        int maxRings,
        int payloadBytes,
        long peerTimeoutMs,
        long openTimeoutMs,
        GpuDirectOptions gpuDirect)
        implements Serializable {

    /** Name of no ring: payload goes through Flink's own channels. */
    public static final String FLINK = "flink";

    private static final int HEARTBEATS_PER_TIMEOUT = 6;

    /** Room for the header and padding of a chunk whose rows are as long as they may be. */
    private static final int SLACK_BYTES = 8 << 10;

    /**
     * @throws IllegalConfigurationException where an option is out of its bounds or no such
     *     transport is known
     */
    public static RingOptions of(ReadableConfig config, String join, int partitions) {
        String transport = config.get(GpuJoinOptions.TRANSPORT);
        if (!transport.equals(FLINK)) {
            TransportProvider.named(transport);
        }
        // The index of variable-width values comes on top of what the builder counts, half of it at
        // most.
        long payloadBytes = JoinConfig.chunkBytes(config) * 3L / 2 + SLACK_BYTES;
        return new RingOptions(
                transport,
                join,
                partitions,
                config.get(GpuJoinOptions.RING_BIND_ADDRESS),
                JoinConfig.ringSlots(config),
                JoinConfig.ringMaxRings(config),
                (int) Math.min(payloadBytes, RingGeometry.MAX_PAYLOAD_BYTES),
                JoinConfig.ringPeerTimeoutMs(config),
                JoinConfig.ringOpenTimeoutMs(config),
                GpuDirectOptions.of(config, transport));
    }

    /** Whether payload goes through rings. */
    public boolean usesRings() {
        return !transport.equals(FLINK);
    }

    /** How payload travels, for people. */
    public String description() {
        return gpuDirect == null ? transport : transport + ", " + gpuDirect;
    }

    /**
     * These, with rings in GPU memory on the device that the subtask was given.
     *
     * @param assigned gives it, for the one that is configured
     */
    public RingOptions onDevice(IntUnaryOperator assigned) {
        if (gpuDirect == null) {
            return this;
        }
        return new RingOptions(
                transport,
                join,
                partitions,
                bindAddress,
                slotCount,
                maxRings,
                payloadBytes,
                peerTimeoutMs,
                openTimeoutMs,
                gpuDirect.onDevice(assigned.applyAsInt(gpuDirect.gpu().device())));
    }

    /**
     * The address to listen on, on the host of a TaskManager.
     *
     * @param taskManager its configuration, whose address comes before that of the job
     * @throws IllegalConfigurationException if the address is unknown or no interface of this host
     *     has it
     */
    InetAddress localAddress(ReadableConfig taskManager) {
        String host = taskManager.getOptional(GpuJoinOptions.RING_BIND_ADDRESS).orElse(bindAddress);
        try {
            InetAddress address = InetAddress.getByName(host);
            // Linux binds all of 127.0.0.0/8, though the interface lists one address of it.
            if (!address.isAnyLocalAddress()
                    && !address.isLoopbackAddress()
                    && NetworkInterface.getByInetAddress(address) == null) {
                throw notOfThisHost(host, null);
            }
            return address;
        } catch (UnknownHostException | SocketException e) {
            throw notOfThisHost(host, e);
        }
    }

    private static IllegalConfigurationException notOfThisHost(String address, Throwable cause) {
        return new IllegalConfigurationException(
                "%s=%s is not an address of this host, %s. Set it in this TaskManager's own configuration."
                        .formatted(GpuJoinOptions.RING_BIND_ADDRESS.key(), address, hostName()),
                cause);
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().toString();
        } catch (UnknownHostException e) {
            return "whose name is unknown";
        }
    }

    RingHost host(Configuration taskManager) {
        return TransportProvider.named(transport).host(taskManager);
    }

    Transport openWriter(InetAddress localAddress) throws TransportException {
        return TransportProvider.named(transport).open(this, localAddress);
    }

    Transport openReader(InetAddress localAddress) throws TransportException {
        return TransportProvider.named(transport).openReader(this, localAddress);
    }

    /**
     * Refuses more rings than a subtask may have, for good: a restart would need as many.
     *
     * @param ringCount into one subtask of the join
     * @throws SuppressRestartsException if they are too many
     */
    void requireFew(int ringCount) {
        if (ringCount > maxRings) {
            long ringKib = geometry().lengthBytes() >> 10;
            throw new SuppressRestartsException(
                    new IllegalConfigurationException(
                            "Too many rings: %d into each subtask of the join, each of %d KiB, a"
                                    + " thread and a socket on either side; %s=%d.\n"
                                    + "Lower the parallelism, raise that option, or set %s: %s.",
                            ringCount,
                            ringKib,
                            GpuJoinOptions.RING_MAX_RINGS.key(),
                            maxRings,
                            GpuJoinOptions.TRANSPORT.key(),
                            FLINK));
        }
    }

    /**
     * Host memory that the reader's process takes for so many rings.
     *
     * @param ringCount into one subtask of the join
     */
    public long hostBytes(int ringCount) {
        return gpuDirect == null ? ringCount * geometry().lengthBytes() : 0;
    }

    /** Host memory that a sender takes for so many rings. */
    long senderBytes(int ringCount) {
        return TransportProvider.named(transport).hasSenderBuffers()
                ? ringCount * geometry().lengthBytes()
                : 0;
    }

    RingGeometry geometry() {
        return RingGeometry.forPayload(slotCount, payloadBytes);
    }

    SessionOptions sessions() {
        SessionOptions usual = SessionOptions.DEFAULT;
        long peerTimeoutNs = TimeUnit.MILLISECONDS.toNanos(peerTimeoutMs);
        return new SessionOptions(
                peerTimeoutNs / HEARTBEATS_PER_TIMEOUT,
                peerTimeoutNs,
                peerTimeoutNs,
                // A handshake is several answers of a peer, TLS's among them.
                Math.max(usual.handshakeTimeoutNs(), peerTimeoutNs),
                usual.retryIntervalNs(),
                usual.reconnectTimeoutNs());
    }
}
