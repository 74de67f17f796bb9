// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

import io.github.gpujoin.rdma.session.AttemptToken;
import io.github.gpujoin.rdma.session.ControlSockets;
import io.github.gpujoin.rdma.session.SessionOptions;
import io.github.gpujoin.rdma.session.TcpControlLink;
import io.github.gpujoin.rdma.session.WriterSession;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.shm.ShmTransport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.UUID;

/** The writing ends of {@link SessionReaders}, in the process that it starts. Thread-safe. */
public final class SenderSessions {

    private static final int OWN_ARGUMENTS = 3;

    private final InetSocketAddress server;
    private final UUID job;
    private final int channels;
    private final List<String> otherArguments;
    private final AttemptToken token;
    private final Transport transport = new ShmTransport(ShmTransport.DEFAULT_DIRECTORY);

    /**
     * Reads the arguments and the standard input of the process.
     *
     * @param arguments port, job, channels, then those of the caller of {@link SessionReaders}
     */
    public SenderSessions(String[] arguments) throws IOException {
        this.server =
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
        this.job = UUID.fromString(arguments[1]);
        this.channels = Integer.parseInt(arguments[2]);
        this.otherArguments = List.of(arguments).subList(OWN_ARGUMENTS, arguments.length);
        this.token = new AttemptToken(System.in.readAllBytes());
    }

    public int channels() {
        return channels;
    }

    /** Returns an argument behind those of the sessions. */
    public int argument(int index) {
        return Integer.parseInt(otherArguments.get(index));
    }

    /** Opens the writing end of a channel, for one thread. */
    public WriterSession open(int channel) {
        return new WriterSession(
                job,
                0,
                channel,
                token,
                TcpControlLink.dialer(server, ControlSockets.PLAIN),
                transport,
                SessionOptions.DEFAULT,
                System.nanoTime());
    }
}
