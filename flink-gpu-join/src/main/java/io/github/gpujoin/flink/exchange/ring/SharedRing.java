// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.ring.SlotParts;
import io.github.gpujoin.rdma.session.SessionException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.metrics.TimerGauge;

/**
 * The ring from one sending subtask to the subtasks of the join in a TaskManager. It collects
 * chunks until the next does not fit a slot or {@link #flush} is called, and sends them in one
 * slot.
 *
 * <p>No ticket is emitted before its slot is written. The join never waits for a chunk that the
 * sender still collects, so a sender that is blocked by one subtask blocks no other one.
 *
 * <p>For the mailbox thread, unless stated otherwise.
 */
final class SharedRing {

    private final WriterEnd end;
    private final RingTicket.Writer tickets;
    private final SharedRingMetrics metrics;
    private final SentChunks out;
    private final List<Chunk> chunks = new ArrayList<>();
    private final List<byte[]> payloads = new ArrayList<>();
    private int lengthBytes;

    /** Slots that were released when the ring had no room for the longest wait; -1 if it had. */
    private long fullAtSlots = -1;

    SharedRing(WriterEnd end, int channel, SharedRingMetrics metrics, SentChunks out) {
        this.end = end;
        this.metrics = metrics;
        this.tickets = new RingTicket.Writer(channel);
        this.out = out;
    }

    /** Returns the sending end. */
    WriterEnd end() {
        return end;
    }

    /**
     * Adds a chunk, which is emitted or sent by the next {@link #flush} at the latest.
     *
     * @param bytes of the chunk as it is sent; not modified any more
     * @throws SessionException if the session with the receivers has failed
     */
    void add(Chunk chunk, byte[] bytes, TimerGauge backPressured) throws SessionException {
        if (!end.fits(SlotParts.lengthWith(lengthBytes, bytes.length))
                || chunks.size() == RingTicket.MAX_CHUNKS_PER_SLOT) {
            flush(backPressured);
        }
        if (!end.fits(bytes.length)) {
            out.emit(chunk, chunk, 0);
            return;
        }
        chunks.add(chunk);
        payloads.add(bytes);
        lengthBytes = SlotParts.lengthWith(lengthBytes, bytes.length);
    }

    /** Whether no chunk waits for a flush. */
    boolean isEmpty() {
        return chunks.isEmpty();
    }

    /**
     * Sends the collected chunks in one slot, or through Flink's channels if the ring is not
     * connected or has no room.
     *
     * @throws SessionException if the session with the receivers has failed
     */
    void flush(TimerGauge backPressured) throws SessionException {
        if (chunks.isEmpty()) {
            return;
        }
        // A subtask that is slow or aligns a barrier keeps slots from all others. Only the first
        // flush waits for it.
        boolean isStillFull = end.releasedSlots() == fullAtSlots;
        long sequence = end.send(payloads, isStillFull ? 0 : RingSender.MAX_WAIT_NS, backPressured);
        if (sequence == WriterEnd.NOT_SENT) {
            fullAtSlots = end.isOpen() ? end.releasedSlots() : -1;
        } else {
            fullAtSlots = -1;
            metrics.sent(chunks.size(), lengthBytes);
        }
        for (int i = 0; i < chunks.size(); i++) {
            Chunk chunk = chunks.get(i);
            if (sequence == WriterEnd.NOT_SENT) {
                out.emit(chunk, chunk, 0);
            } else {
                byte[] bytes = payloads.get(i);
                out.emit(
                        chunk,
                        tickets.write(chunk, bytes, RingTicket.position(sequence, i)),
                        bytes.length);
            }
        }
        chunks.clear();
        payloads.clear();
        lengthBytes = 0;
    }
}
