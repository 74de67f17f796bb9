// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.rdma.session.SessionException;
import java.io.IOException;
import java.util.List;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.jspecify.annotations.Nullable;

/**
 * The way from one sending subtask to one subtask of the join: a ring to it alone, a ring to all
 * subtasks of its TaskManager, or the one that suits the measured chunks.
 *
 * <p>A change between the rings is legal at any chunk: the receiver follows the tickets, which are
 * in the order of Flink's channel. For the mailbox thread, unless stated otherwise.
 */
final class SendChannel {

    /** Chunks over which their length is averaged. */
    private static final int WINDOW_CHUNKS = 32;

    /** Fewer chunks in a slot than this are faster in a ring of their own. */
    private static final int OWN_BELOW_CHUNKS = 4;

    /** So many chunks in a slot are faster in a shared ring. */
    private static final int SHARED_FROM_CHUNKS = 8;

    /** Opens the ring to the subtask alone. */
    @FunctionalInterface
    interface Opener {

        /** Returns null if there is no memory for it. */
        @Nullable WriterEnd open() throws IOException;
    }

    private final @Nullable SharedRing shared;
    private final RingTicket.Writer tickets;
    private final SentChunks out;

    /** Null if the ring is open, or never opens. */
    private @Nullable Opener opener;

    private @Nullable WriterEnd own;
    private volatile boolean prefersOwn;
    private int windowChunks;
    private long windowBytes;

    /**
     * @param shared null if the subtask has a ring of its own
     * @param opener of that ring, called at once if there is no shared one; null if it has none
     * @param channel of the ring of its own
     */
    SendChannel(@Nullable SharedRing shared, @Nullable Opener opener, int channel, SentChunks out)
            throws IOException {
        this.shared = shared;
        this.tickets = new RingTicket.Writer(channel);
        this.out = out;
        if (shared == null) {
            own = opener.open();
            prefersOwn = true;
        } else {
            this.opener = opener;
        }
    }

    /**
     * Sends a chunk. In a shared ring it waits for the next flush.
     *
     * @param bytes of the chunk as it is sent; not modified any more
     * @throws IOException if the session with the receiver has failed, or its address is not usable
     */
    void send(Chunk chunk, byte[] bytes, TimerGauge backPressured) throws IOException {
        if (shared == null) {
            sendAlone(own, chunk, bytes, backPressured);
            return;
        }
        measure(bytes.length);
        WriterEnd end = prefersOwn ? own() : null;
        if (end != null && end.isOpen() && end.fits(bytes.length)) {
            // Keeps the order of the channel.
            shared.flush(backPressured);
            sendAlone(end, chunk, bytes, backPressured);
        } else {
            shared.add(chunk, bytes, backPressured);
        }
    }

    private void sendAlone(WriterEnd end, Chunk chunk, byte[] bytes, TimerGauge backPressured)
            throws SessionException {
        long sequence =
                end.fits(bytes.length)
                        ? end.send(List.of(bytes), RingSender.MAX_WAIT_NS, backPressured)
                        : WriterEnd.NOT_SENT;
        if (sequence == WriterEnd.NOT_SENT) {
            end.checkNotFailed();
            out.emit(chunk, chunk, 0);
        } else {
            out.emit(chunk, tickets.write(chunk, bytes, sequence), bytes.length);
        }
    }

    /**
     * Prefers the ring of its own once fewer than four chunks share a slot on average, and the
     * shared one again once eight do. Between both, nothing changes.
     */
    private void measure(int lengthBytes) {
        windowBytes += lengthBytes;
        if (++windowChunks < WINDOW_CHUNKS) {
            return;
        }
        long meanBytes = windowBytes / windowChunks;
        windowChunks = 0;
        windowBytes = 0;
        WriterEnd sharing = shared.end();
        if (!sharing.fits(OWN_BELOW_CHUNKS * meanBytes)) {
            prefersOwn = opener != null || own != null;
        } else if (sharing.fits(SHARED_FROM_CHUNKS * meanBytes)) {
            prefersOwn = false;
        }
    }

    private @Nullable WriterEnd own() throws IOException {
        if (opener != null) {
            own = opener.open();
            opener = null;
            prefersOwn = own != null;
        }
        return own;
    }

    /** Whether chunks share a ring by the last measurement. For any thread. */
    boolean prefersShared() {
        return !prefersOwn;
    }
}
