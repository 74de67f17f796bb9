// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.RingSharing;
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
import org.jspecify.annotations.Nullable;

/**
 * Options of the transport of a join's payload between subtasks.
 *
 * @param transport {@value #FLINK}, or the name of a {@link TransportProvider}
 * @param join name of the join, which identifies the {@link Rendezvous}
 * @param partitions radix partitions, one per key group of the join
 * @param bindAddress host to listen on; a bind address in the TaskManager's configuration overrides
 *     it
 * @param sharing which subtasks of the join receive through one ring
 * @param slotCount number of slots of each ring: of chunks that a sender may be ahead of a receiver
 * @param maxRings limit of the rings into one subtask of the join
 * @param payloadBytes length of the longest chunk that goes through a ring; longer ones go through
 *     Flink's channel
 * @param peerTimeoutMs time without a message after which a peer counts as failed; a sixth of it is
 *     the heartbeat interval
 * @param openTimeoutMs longest wait of a sender's first chunk for its rings
 * @param encodes whether chunks in rings have encoded columns where that shortens them
 * @param gpuDirect null if rings lie in host memory
 */
public record RingOptions(
        String transport,
        String join,
        int partitions,
        String bindAddress,
        RingSharing sharing,
        int slotCount,
        int maxRings,
        int payloadBytes,
        long peerTimeoutMs,
        long openTimeoutMs,
        boolean encodes,
        @Nullable GpuDirectOptions gpuDirect)
        implements Serializable {

    /** Transport without rings: payload goes through Flink's channels. */
    public static final String FLINK = "flink";

    private static final int HEARTBEATS_PER_TIMEOUT = 6;

    /** Room for the header and padding of a chunk whose rows have the maximum length. */
    private static final int SLACK_BYTES = 8 << 10;

    /**
     * Reads the options of a job.
     *
     * @param join name of the join
     * @param partitions number of radix partitions
     * @throws IllegalConfigurationException if an option is out of range, or the transport is
     *     unknown
     */
    public static RingOptions of(ReadableConfig config, String join, int partitions) {
        String transport = config.get(GpuJoinOptions.TRANSPORT);
        if (!transport.equals(FLINK)) {
            TransportProvider.named(transport);
        }
        // The builder does not count the index of variable-width values, which adds at most half
        // of the counted bytes.
        long payloadBytes = JoinConfig.chunkBytes(config) * 3L / 2 + SLACK_BYTES;
        GpuDirectOptions gpuDirect = GpuDirectOptions.of(config, transport);
        return new RingOptions(
                transport,
                join,
                partitions,
                config.get(GpuJoinOptions.RING_BIND_ADDRESS),
                sharing(config, gpuDirect),
                JoinConfig.ringSlots(config),
                JoinConfig.ringMaxRings(config),
                (int) Math.min(payloadBytes, RingGeometry.MAX_PAYLOAD_BYTES),
                JoinConfig.ringPeerTimeoutMs(config),
                JoinConfig.ringOpenTimeoutMs(config),
                config.get(GpuJoinOptions.ENCODE_NETWORK),
                gpuDirect);
    }

    private static RingSharing sharing(
            ReadableConfig config, @Nullable GpuDirectOptions gpuDirect) {
        RingSharing sharing = config.get(GpuJoinOptions.RING_SHARING);
        if (sharing != RingSharing.NONE && gpuDirect != null) {
            throw new IllegalConfigurationException(
                    "Subtasks cannot share rings in GPU memory: %s=%s, %s=%s. Switch one of them off.",
                    GpuJoinOptions.RING_SHARING.key(),
                    sharing,
                    GpuJoinOptions.RDMA_GPU_DIRECT.key(),
                    config.get(GpuJoinOptions.RDMA_GPU_DIRECT));
        }
        return sharing;
    }

    /** Whether payload goes through rings. */
    public boolean usesRings() {
        return !transport.equals(FLINK);
    }

    /** Returns a description of the transport for logs and explanations. */
    public String description() {
        if (gpuDirect != null) {
            return transport + ", " + gpuDirect;
        }
        if (!isShared()) {
            return transport;
        }
        return usesRings()
                ? transport + ", rings shared by TaskManager: " + sharing
                : "%s; %s=%s has no effect without rings"
                        .formatted(transport, GpuJoinOptions.RING_SHARING.key(), sharing);
    }

    /** Whether the subtasks of the join in a TaskManager share rings. */
    boolean isShared() {
        return sharing != RingSharing.NONE;
    }

    /**
     * Returns the options with the device that is assigned to the subtask.
     *
     * @param assigned maps the configured device to the assigned one; not called if rings lie in
     *     host memory
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
                sharing,
                slotCount,
                maxRings,
                payloadBytes,
                peerTimeoutMs,
                openTimeoutMs,
                encodes,
                gpuDirect.onDevice(assigned.applyAsInt(gpuDirect.gpu().device())));
    }

    /**
     * Returns the address to listen on, of a TaskManager's host.
     *
     * @param taskManager configuration of the process; its bind address overrides that of the job
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
     * Rejects more rings than a subtask may have. A restart would need as many, so the failure
     * suppresses restarts.
     *
     * @param ringCount count of rings into one subtask of the join, or into one TaskManager
     * @throws SuppressRestartsException if the count exceeds {@code maxRings}
     */
    void requireRingLimit(int ringCount) {
        if (ringCount > maxRings) {
            long ringKib = geometry().lengthBytes() >> 10;
            throw new SuppressRestartsException(
                    new IllegalConfigurationException(
                            "Too many rings: %d into each %s, each of %d KiB, a"
                                    + " thread and a socket on either side; %s=%d.\n"
                                    + "Lower the parallelism, %s that option, or set %s: %s.",
                            ringCount,
                            isShared() ? "TaskManager" : "subtask of the join",
                            ringKib,
                            GpuJoinOptions.RING_MAX_RINGS.key(),
                            maxRings,
                            isShared()
                                    ? "raise"
                                    : "set %s: task_manager and raise"
                                            .formatted(GpuJoinOptions.RING_SHARING.key()),
                            GpuJoinOptions.TRANSPORT.key(),
                            FLINK));
        }
    }

    /**
     * Returns the bytes of host memory that rings need in the reader's process; 0 if they lie in
     * GPU memory.
     */
    long hostBytes(int ringCount) {
        return gpuDirect == null ? ringCount * geometry().lengthBytes() : 0;
    }

    /** Returns the bytes of host memory that rings need in a sender; 0 if it has no buffers. */
    long senderBytes(int ringCount) {
        return TransportProvider.named(transport).hasSenderBuffers()
                ? ringCount * geometry().lengthBytes()
                : 0;
    }

    /**
     * Whether a subtask of the join offers rings to it alone. With {@link RingSharing#AUTO} it does
     * if their number is within the limit; the shared ones serve in any case.
     */
    boolean offersOwnRings(int ringCount) {
        return sharing == RingSharing.NONE || sharing == RingSharing.AUTO && ringCount <= maxRings;
    }

    /** Slots of a ring that its reader may hold at once; the writer needs the others. */
    int maxHeldSlots() {
        return slotCount / 2;
    }

    /** Longest wait for the chunk of a ticket: two reconnects. */
    long maxArrivalNs() {
        return 2 * sessions().reconnectTimeoutNs();
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
                // A handshake needs several answers of a peer, TLS included.
                Math.max(usual.handshakeTimeoutNs(), peerTimeoutNs),
                usual.retryIntervalNs(),
                usual.reconnectTimeoutNs());
    }
}
