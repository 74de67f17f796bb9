// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.transport.SenderSessions;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.WriterSession;
import java.util.List;

/**
 * The process that writes facts into the rings of {@link ShmRingBench}, with a thread for each
 * ring. It sends a few chunks in turn, which stay in the processor's cache. Their sequence is the
 * time at which they are sent, in ns of {@link System#nanoTime}, which processes of one machine
 * share.
 */
final class FactSender {

    /** A megabyte of facts for each thread. */
    private static final int CHUNK_BYTES_OF_THREAD = 1 << 20;

    private FactSender() {}

    /**
     * Arguments behind those of the sessions: build rows, rows of a chunk, chunks a second or 0.
     */
    public static void main(String[] args) throws Exception {
        SenderSessions sender = new SenderSessions(args);
        RingWorkload workload = ShmRingBench.workload(sender.argument(0));
        int chunkRows = sender.argument(1);
        long perSecond = sender.argument(2);
        long intervalNs = perSecond == 0 ? 0 : 1_000_000_000L * sender.channels() / perSecond;
        for (int channel = 0; channel < sender.channels(); channel++) {
            int number = channel;
            int chunks = Math.max(1, CHUNK_BYTES_OF_THREAD / (chunkRows * workload.tupleBytes()));
            List<byte[]> facts =
                    workload.facts(chunks, chunkRows, number).chunks().stream()
                            .map(Chunk::bytes)
                            .toList();
            new Thread(() -> send(sender.open(number), facts, intervalNs), "sender " + number)
                    .start();
        }
    }

    private static void send(WriterSession session, List<byte[]> facts, long intervalNs) {
        try {
            long dueNs = System.nanoTime();
            for (int next = 0; ; ) {
                long nowNs = System.nanoTime();
                session.step(nowNs);
                if (nowNs - dueNs < 0 || !session.hasCredit()) {
                    Thread.onSpinWait();
                    continue;
                }
                byte[] chunk = facts.get(next);
                stamp(chunk, intervalNs == 0 ? nowNs : dueNs);
                long sum = ChunkChecksum.wordSum(chunk, Memory.BYTES);
                if (session.tryWrite(chunk, Memory.BYTES, chunk.length, sum)) {
                    next = (next + 1) % facts.size();
                    dueNs += intervalNs;
                }
            }
        } catch (SessionException e) {
            System.exit(1); // the receiver is gone
        }
    }

    /** Sets the sequence. The checksum is a sum over words, so only the header's share changes. */
    private static void stamp(byte[] chunk, long timeNs) {
        long at = Memory.BYTES;
        long others =
                Memory.getLong(chunk, at + ChunkDescriptor.CHECKSUM_OFFSET)
                        - ChunkChecksum.of(chunk, at, ChunkDescriptor.HEADER_BYTES);
        Memory.putLong(chunk, at + ChunkDescriptor.SEQUENCE_OFFSET, timeNs);
        Memory.putLong(
                chunk,
                at + ChunkDescriptor.CHECKSUM_OFFSET,
                others + ChunkChecksum.of(chunk, at, ChunkDescriptor.HEADER_BYTES));
    }
}
