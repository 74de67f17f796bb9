// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.rdma.session.AttemptToken;
import io.github.gpujoin.rdma.session.ControlSockets;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.SessionOptions;
import io.github.gpujoin.rdma.session.TcpControlLink;
import io.github.gpujoin.rdma.session.WriterSession;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.shm.ShmTransport;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/**
 * The sending process of {@link SessionStream}; runs until it is stopped or its receiver is gone.
 */
final class SessionSender {

    private final Transport transport;
    private final Shipment shipment;
    private final AttemptToken token;
    private final UUID job;
    private final InetSocketAddress server;

    private SessionSender(
            Transport transport,
            Shipment shipment,
            AttemptToken token,
            UUID job,
            InetSocketAddress server) {
        this.transport = transport;
        this.shipment = shipment;
        this.token = token;
        this.job = job;
        this.server = server;
    }

    /** Arguments: port, job, channels, bytes, chunks a second; the token on stdin. */
    public static void main(String[] args) throws Exception {
        Shipment shipment =
                new Shipment(
                        Integer.parseInt(args[2]),
                        Integer.parseInt(args[3]),
                        Integer.parseInt(args[4]));
        new SessionSender(
                        new ShmTransport(ShmTransport.DEFAULT_DIRECTORY),
                        shipment,
                        new AttemptToken(System.in.readAllBytes()),
                        UUID.fromString(args[1]),
                        new InetSocketAddress(
                                InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])))
                .run();
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
            sessions.add(
                    new WriterSession(
                            job,
                            0,
                            channel,
                            token,
                            TcpControlLink.dialer(server, ControlSockets.PLAIN),
                            transport,
                            SessionOptions.DEFAULT,
                            System.nanoTime()));
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
