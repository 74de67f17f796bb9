// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.thread.UninterruptibleWait;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.net.ssl.SSLServerSocket;
import org.jspecify.annotations.Nullable;

/**
 * Listens for control connections on one address and passes them to a {@link SessionListener}.
 *
 * <p>A connection costs a socket until the listener permits its handshake. Only then does it get a
 * thread, and TLS begins.
 */
public final class TcpControlServer implements ControlServer {

    private static final Set<String> TLS_PROTOCOLS = Set.of("TLSv1.3", "TLSv1.2");

    /** Maximum of accepted connections whose handshake has not begun; others are closed. */
    private static final int MAX_WAITING = 64;

    /** Pause after a failed attempt to accept. */
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);

    /** Time of failures to accept after which the reader's task fails. */
    private static final long MAX_FAILING_NS = TimeUnit.SECONDS.toNanos(5);

    private final ServerSocket server;
    private final LinkQueue waiting = new LinkQueue(MAX_WAITING);
    private final Thread acceptor;

    /** Why the server accepts no more connections. */
    private volatile @Nullable Throwable breakdown;

    /**
     * Starts to listen.
     *
     * @param address a single address of this host; with port 0 a free port is chosen
     * @throws IllegalArgumentException if the address is unresolved or a wildcard
     * @throws IOException if this host lacks the address or the port is in use
     */
    public TcpControlServer(InetSocketAddress address, ControlSockets sockets) throws IOException {
        if (address.isUnresolved() || address.getAddress().isAnyLocalAddress()) {
            throw new IllegalArgumentException(
                    "Control server needs a single address of this host: address=" + address);
        }
        try {
            server =
                    sockets.server()
                            .createServerSocket(
                                    address.getPort(), MAX_WAITING, address.getAddress());
        } catch (IOException e) {
            throw new IOException(
                    "Control server cannot listen: address="
                            + address
                            + ". Use an address of this host and a free port.",
                    e);
        }
        if (server instanceof SSLServerSocket secure) {
            secure.setNeedClientAuth(true);
            secure.setEnabledProtocols(modern(secure.getEnabledProtocols()));
        }
        acceptor = new Thread(this::acceptAll, "gpu-join control server " + address());
        acceptor.setDaemon(true);
        acceptor.start();
    }

    /** Keeps the secure protocols of those enabled; an empty result fails every handshake. */
    static String[] modern(String... enabled) {
        return Stream.of(enabled).filter(TLS_PROTOCOLS::contains).toArray(String[]::new);
    }

    @Override
    public InetSocketAddress address() {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    @Override
    public void step(SessionListener listener, long nowNs) {
        Throwable cause = breakdown;
        if (cause != null) {
            throw new IllegalStateException(
                    "The rings' control server accepts no more connections: address=%s, reason=%s"
                            .formatted(address(), cause),
                    cause);
        }
        TcpControlLink link;
        while (listener.isReady(nowNs) && (link = waiting.poll()) != null) {
            listener.accept(link, link.address(), nowNs);
        }
        listener.step(nowNs);
    }

    private void acceptAll() {
        long failingSinceNs = 0;
        while (!server.isClosed()) {
            try {
                TcpControlLink link = new TcpControlLink(server.accept());
                failingSinceNs = 0;
                if (!waiting.offer(link)) {
                    link.close();
                }
            } catch (IOException e) {
                // This connection failed, or the server was closed, or the process has no file
                // descriptor left, which lasts. The writer only sees that nobody answers.
                long nowNs = System.nanoTime();
                failingSinceNs = failingSinceNs == 0 ? nowNs : failingSinceNs;
                if (nowNs - failingSinceNs > MAX_FAILING_NS) {
                    breakdown = e;
                }
                LockSupport.parkNanos(PAUSE_NS);
            } catch (RuntimeException | Error e) {
                breakdown = e;
                return;
            }
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            // the socket is released even so
        }
        UninterruptibleWait.join(acceptor);
        for (TcpControlLink link; (link = waiting.poll()) != null; ) {
            link.close();
        }
    }
}
