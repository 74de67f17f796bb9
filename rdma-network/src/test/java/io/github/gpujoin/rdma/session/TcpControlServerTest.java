// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses, accepting and framing of the control server, over real sockets. */
@Timeout(60)
class TcpControlServerTest {

    private static final UUID JOB = new UUID(8, 9);
    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);
    private final SessionListener listener =
            new SessionListener(
                    JOB,
                    JobSecret.random(),
                    SessionOptions.DEFAULT,
                    SessionListener.Limits.DEFAULT);

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "::"})
    void shouldRejectAWildcardAddress(String wildcard) {
        InetSocketAddress all = new InetSocketAddress(wildcard, 0);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new TcpControlServer(all, ControlSockets.PLAIN))
                .withMessageStartingWith("Control server needs a single address of this host");
    }

    @Test
    void shouldRejectAnUnresolvedAddress() {
        InetSocketAddress unknown = InetSocketAddress.createUnresolved("nowhere.invalid", 0);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new TcpControlServer(unknown, ControlSockets.PLAIN))
                .withMessageContaining("nowhere.invalid");
    }

    /** As in a process without a free file descriptor, a condition that lasts. */
    @Test
    void shouldNotSpinIfAcceptingFailsAndReportWhy() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        long startNs = System.nanoTime();
        ControlSockets sockets =
                failing(
                        () -> {
                            attempts.incrementAndGet();
                            throw new SocketException("Too many open files");
                        });
        try (TcpControlServer server = new TcpControlServer(loopback(0), sockets)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> stepUntilItThrows(server))
                    .withMessageStartingWith(
                            "The rings' control server accepts no more connections")
                    .withMessageContaining("Too many open files");
        }
        long tenthsOfMs = (System.nanoTime() - startNs) / (MS / 10);
        assertThat(attempts.get()).isBetween(5, (int) tenthsOfMs);
    }

    @Test
    void shouldReportAnErrorOfTheAcceptorThread() throws Exception {
        ControlSockets sockets =
                failing(
                        () -> {
                            throw new OutOfMemoryError("Java heap space");
                        });
        try (TcpControlServer server = new TcpControlServer(loopback(0), sockets)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> stepUntilItThrows(server))
                    .withMessageContaining("Java heap space")
                    .withCauseInstanceOf(OutOfMemoryError.class);
        }
    }

    @Test
    void shouldCloseALinkThatSendsALengthOutOfRange() throws Exception {
        try (TcpControlServer server = new TcpControlServer(loopback(0), ControlSockets.PLAIN);
                Socket socket =
                        new Socket(server.address().getAddress(), server.address().getPort())) {
            socket.getOutputStream().write(new byte[] {-1, -1, -1, 127});
            InputStream in = socket.getInputStream();
            socket.setSoTimeout(1);
            int end;
            do {
                server.step(listener, System.nanoTime());
                try {
                    end = in.read();
                } catch (SocketTimeoutException e) {
                    end = 0;
                }
            } while (end != -1);
            assertThat(listener.pendingCount()).isZero();
        }
    }

    private void stepUntilItThrows(TcpControlServer server) {
        while (true) {
            server.step(listener, System.nanoTime());
            LockSupport.parkNanos(MS);
        }
    }

    private static ControlSockets failing(Callable<Socket> accept) {
        ServerSocketFactory factory =
                new ServerSocketFactory() {
                    @Override
                    public ServerSocket createServerSocket(int port) {
                        throw new AssertionError("unexpected call");
                    }

                    @Override
                    public ServerSocket createServerSocket(int port, int backlog) {
                        throw new AssertionError("unexpected call");
                    }

                    @Override
                    public ServerSocket createServerSocket(
                            int port, int backlog, InetAddress address) throws IOException {
                        return new ServerSocket(port, backlog, address) {
                            @Override
                            public Socket accept() throws IOException {
                                try {
                                    return accept.call();
                                } catch (IOException e) {
                                    throw e;
                                } catch (Exception e) {
                                    throw new IllegalStateException(e);
                                }
                            }
                        };
                    }
                };
        return new ControlSockets(factory, SocketFactory.getDefault());
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }
}
