// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.WriterSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The sending process of {@link SessionStream}; runs until it is stopped or its receiver is gone.
 */
final class SessionSender {

    private final SenderSessions sender;
    private final Shipment shipment;

    private SessionSender(SenderSessions sender, Shipment shipment) {
        this.sender = sender;
        this.shipment = shipment;
    }

    /** Arguments behind those of the sessions: bytes, chunks a second. */
    public static void main(String[] args) throws Exception {
        SenderSessions sender = new SenderSessions(args);
        Shipment shipment = new Shipment(sender.channels(), sender.argument(0), sender.argument(1));
        new SessionSender(sender, shipment).run();
    }

    private void run() {
        int threadCount = SessionStream.threadCount(shipment.channels());
        for (int i = 0; i < threadCount; i++) {
            int index = i;
            new Thread(() -> send(index, threadCount), "sender " + i).start();
        }
    }

    private void send(int index, int step) {
        List<WriterSession> sessions = new ArrayList<>();
        for (int channel = index; channel < shipment.channels(); channel += step) {
            sessions.add(sender.open(channel));
        }
        byte[] chunk = new byte[shipment.chunkBytes()];
        new Random(index).nextBytes(chunk);
        Pace pace = new Pace(shipment, step);
        Idle idle = new Idle();
        try {
            for (int next = 0; ; next = (next + 1) % sessions.size()) {
                if (send(sessions.get(next), chunk, pace)) {
                    idle.reset();
                } else {
                    idle.pause();
                }
            }
        } catch (SessionException e) {
            System.exit(1); // the receiver is gone
        }
    }

    private static boolean send(WriterSession session, byte[] chunk, Pace pace)
            throws SessionException {
        boolean sent = false;
        if (pace.isDue() && session.hasCredit()) {
            Memory.putLong(chunk, Memory.BYTES, pace.take());
            sent = session.tryWrite(chunk, Memory.BYTES, chunk.length);
        }
        session.step(System.nanoTime());
        return sent;
    }
}
