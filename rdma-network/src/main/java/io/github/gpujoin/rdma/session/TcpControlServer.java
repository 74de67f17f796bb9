package io.github.gpujoin.rdma.session;

import io.github.gpujoin.rdma.transport.Threads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.net.ssl.SSLServerSocket;

/**
 * Listens for control connections on one address and hands them to a {@link SessionListener}.
 *
 * <p>A connection costs a socket until the listener lets its handshake begin; only then does it get
 * a thread, and TLS begins.
 */
public final class TcpControlServer implements ControlServer {

    private static final Set<String> TLS_PROTOCOLS = Set.of("TLSv1.3", "TLSv1.2");

    /** Connections that were made and not handed over yet; more are closed at once. */
    private static final int MAX_WAITING = 64;

    /** Between two attempts to accept of which the first failed. */
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);

    /** Time for which no connection can be accepted before the reader's task hears why. */
    private static final long MAX_FAILING_NS = TimeUnit.SECONDS.toNanos(5);

    private final ServerSocket server;
    private final WaitingLinks waiting = new WaitingLinks(MAX_WAITING);
    private final Thread acceptor;

    /** Why nothing more is accepted, null while it is. */
    private volatile Throwable breakdown;

    /**
     * @param address to listen on, and no other; port 0 takes a free one
     * @throws IllegalArgumentException where the address is no single one
     */
    public TcpControlServer(InetSocketAddress address, ControlSockets sockets) throws IOException {
        if (address.isUnresolved() || address.getAddress().isAnyLocalAddress()) {
            throw new IllegalArgumentException(
                    "the control server listens on one address of this host: address=" + address);
        }
        try {
            server =
                    sockets.server()
                            .createServerSocket(
                                    address.getPort(), MAX_WAITING, address.getAddress());
        } catch (IOException e) {
            throw new IOException(
                    "the address of the control server is this host's and free: address=" + address,
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

    /**
     * Those that are safe of the enabled ones; none, which no handshake survives, where none is.
     */
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
                    "The rings' control server accepts nothing more: address=%s, reason=%s"
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
                // This connection failed, or the server was closed; or there is no file descriptor
                // left, which lasts. Its writer only sees that nobody answers.
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
            // the socket is gone all the same
        }
        Threads.joinUninterruptibly(acceptor);
        for (TcpControlLink link; (link = waiting.poll()) != null; ) {
            link.close();
        }
    }
}
