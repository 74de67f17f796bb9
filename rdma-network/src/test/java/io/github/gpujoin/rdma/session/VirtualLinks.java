// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/** Control connections in virtual time: ordered and lossless until cut, as TCP is. */
final class VirtualLinks {

    private final Random random;
    private final long maxLatencyNs;
    private final Deque<End> dialled = new ArrayDeque<>();
    private final List<End> all = new ArrayList<>();
    private long nowNs;

    VirtualLinks(Random random, long maxLatencyNs) {
        this.random = random;
        this.maxLatencyNs = maxLatencyNs;
    }

    void advanceTo(long nowNs) {
        this.nowNs = nowNs;
    }

    /** Opens a connection and returns the writer's end. */
    End dial() {
        End writer = new End();
        End reader = new End();
        writer.other = reader;
        reader.other = writer;
        dialled.add(reader);
        all.add(writer);
        return writer;
    }

    /** Returns the reader's end of the next new connection; null if there is none. */
    End accept() {
        return dialled.poll();
    }

    /** Breaks an open connection; if silently, neither end sees more than missing messages. */
    void cutOne(boolean silently) {
        all.removeIf(end -> end.closed || end.cut);
        if (!all.isEmpty()) {
            all.get(random.nextInt(all.size())).cut(silently);
        }
    }

    /** One end of a connection; records sent messages for replays. */
    final class End implements ControlLink {

        private record Sent(long dueNs, ControlMessage message) {}

        final List<ControlMessage> sent = new ArrayList<>();
        private final Deque<Sent> incoming = new ArrayDeque<>();
        End other;
        private long lastDueNs;
        private boolean closed;
        private boolean cut;
        private boolean silent;

        private void cut(boolean silently) {
            cut = true;
            other.cut = true;
            silent = silently;
            other.silent = silently;
        }

        @Override
        public void send(ControlMessage message) throws IOException {
            if (closed || other.closed || cut && !silent) {
                throw new IOException("the link is broken");
            }
            sent.add(message);
            if (!cut) {
                lastDueNs = Math.max(lastDueNs, nowNs + random.nextLong(maxLatencyNs));
                other.incoming.add(new Sent(lastDueNs, message));
            }
        }

        @Override
        public ControlMessage receive() throws IOException {
            if (!incoming.isEmpty() && incoming.peek().dueNs <= nowNs) {
                // encode and decode, as on the wire
                byte[] frame = ControlCodec.encode(incoming.remove().message);
                return ControlCodec.decode(
                        Arrays.copyOfRange(frame, ControlCodec.LENGTH_BYTES, frame.length));
            }
            if (closed || incoming.isEmpty() && (other.closed || cut) && !silent) {
                throw new IOException("the link is broken");
            }
            return null;
        }

        @Override
        public String peer() {
            return "virtual";
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
