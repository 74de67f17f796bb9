// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.ring.ReadWindow;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.ring.RingReader;
import io.github.gpujoin.core.ring.SlotState;
import io.github.gpujoin.rdma.transport.SharedTransport;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The memory that the writer of one connection writes, and the payloads in it. Every read first
 * checks that the memory still exists.
 *
 * <p>For one thread.
 */
final class ReaderRing implements AutoCloseable {

    /**
     * How often a slot is sent before its session fails. A network that damages one slot in a
     * hundred damages none eight times; a wrong checksum of the writer or broken memory does.
     */
    static final int MAX_SENDS = 8;

    private final int channel;
    private final int attempt;
    private final SessionOptions options;
    private final boolean mayChange;
    private final RingGeometry geometry;
    private final ReadWindow window;
    private final Target target;
    private final RingReader reader;
    private long missingSequence;
    private long missingSinceNs;
    private long checkedAtNs;

    /**
     * @param channel for messages, as is the attempt
     * @param window the slots of this attempt that earlier connections have taken
     * @throws TransportException if the transport has no memory for the ring
     */
    ReaderRing(
            int channel,
            int attempt,
            RingGeometry geometry,
            long epoch,
            ReadWindow window,
            Transport transport,
            SessionOptions options,
            long nowNs)
            throws TransportException {
        this.channel = channel;
        this.attempt = attempt;
        this.options = options;
        this.geometry = geometry;
        this.window = window;
        this.mayChange = !(transport instanceof SharedTransport);
        this.target = transport.registerTarget(geometry.lengthBytes());
        this.reader = new RingReader(target.view(), geometry, epoch, window);
        this.checkedAtNs = nowNs;
    }

    /** Returns what the writer needs to write here. */
    byte[] descriptor() {
        return target.descriptor();
    }

    /**
     * Checks the next slot once per heartbeat interval, since this check reads all of it.
     *
     * @param announced last sequence that must have arrived
     * @throws IOException if an announced slot stays lost or torn: the next epoch resends it
     * @throws TransportException if that happened to the slot {@value #MAX_SENDS} times
     */
    void requireArrived(long announced, long nowNs) throws IOException {
        if (nowNs - checkedAtNs < options.heartbeatIntervalNs()) {
            return;
        }
        checkedAtNs = nowNs;
        target.requireIntact();
        long next = window.takenSequence() + 1;
        if (announced < next || reader.poll() == SlotState.READY) {
            missingSequence = 0;
        } else if (missingSequence != next) {
            missingSequence = next;
            missingSinceNs = nowNs;
        } else if (nowNs - missingSinceNs > options.slotTimeoutNs()) {
            throw lost(next, announced);
        }
    }

    private IOException lost(long sequence, long announced) {
        int lossCount = window.recordLoss();
        String values =
                "slot="
                        + (sequence - 1) % geometry.slotCount()
                        + ", sequence="
                        + sequence
                        + ", announced="
                        + announced
                        + ", found="
                        + reader.poll();
        return lossCount < MAX_SENDS
                ? new IOException("Announced slot did not arrive intact: " + values)
                : new TransportException(
                        "Slot was sent "
                                + lossCount
                                + " times and never arrived intact: "
                                + values
                                + ". Either its writer computes a wrong checksum, or the network"
                                + " damages it each time.");
    }

    /** Whether the next slot contains a payload; {@link #copyTo} and {@link #take} verify it. */
    boolean poll() throws TransportException {
        target.requireIntact();
        return reader.peek() == SlotState.READY;
    }

    int lengthBytes() {
        return reader.lengthBytes();
    }

    /** Returns whether the copy is the whole payload. */
    boolean copyTo(byte[] payload) throws TransportException {
        target.requireIntact();
        return reader.copyTo(payload);
    }

    /** Releases the slot that {@link #copyTo} copied. */
    void release() {
        reader.release();
    }

    /**
     * Takes the payload of a ring in host memory, in place.
     *
     * @param verifies whether the slot is verified also if nothing writes to it late
     * @return null if the slot is torn
     */
    @Nullable TakenSlot take(boolean verifies) throws TransportException {
        target.requireIntact();
        boolean isVerified = verifies || mayChange;
        if (isVerified && reader.poll() != SlotState.READY) {
            return null;
        }
        return new TakenSlot(
                target.region(), reader.take(), mayChange, isVerified, channel, attempt);
    }

    long payloadAddress() {
        return reader.payloadAddress();
    }

    /** Whether the ring is in host memory, where payloads can be taken. */
    boolean isReadableInPlace() {
        return target.region() != null;
    }

    /** Revokes the memory, so that no writer changes it. Taken slots stay readable. */
    @Override
    public void close() {
        target.close();
    }
}
