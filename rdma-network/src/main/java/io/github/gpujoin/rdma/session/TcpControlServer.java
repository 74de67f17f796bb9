package io.github.gpujoin.rdma.session;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;

/**
 * Listens for control connections on one address and hands them to a {@link SessionListener}.
 *
 * <p>With a TLS context both sides show certificates that the other's context trusts; without one
 * only the attempt's token is proved, and nothing is encrypted.
 */
public final class TcpControlServer implements AutoCloseable {

    static final String[] TLS_PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

    /** Connections that were made and not handed over yet; more are closed at once. */
    private static final int MAX_WAITING = 64;

    private final ServerSocket server;
    private final BlockingQueue<TcpControlLink> waiting = new LinkedBlockingQueue<>(MAX_WAITING);
    private final Thread acceptor;

    /**
     * @param address to listen on, and no other; port 0 takes a free one
     * @param tls for mutual authentication, or null for none
     */
    public TcpControlServer(InetSocketAddress address, SSLContext tls) throws IOException {
        this.server =
                tls == null
                        ? new ServerSocket()
                        : tls.getServerSocketFactory().createServerSocket();
        try {
            if (server instanceof SSLServerSocket secure) {
                secure.setNeedClientAuth(true);
                secure.setEnabledProtocols(TLS_PROTOCOLS);
            }
            server.bind(address, MAX_WAITING);
        } catch (IOException e) {
            server.close();
            throw new IOException(
                    "the address of the control server must be free: address=" + address, e);
        }
        acceptor = new Thread(this::acceptAll, "gpu-join control server " + address());
        acceptor.setDaemon(true);
        acceptor.start();
    }

    /** The address listened on, with its port. */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    /** Hands over the connections that came. For one thread; never blocks. */
    public void step(SessionListener listener, long nowNs) {
        TcpControlLink link;
        while ((link = waiting.poll()) != null) {
            listener.accept(link, nowNs);
        }
        listener.step(nowNs);
    }

    private void acceptAll() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                // a full queue is closed before a thread is made for the connection
                if (waiting.remainingCapacity() == 0) {
                    socket.close();
                } else {
                    waiting.add(new TcpControlLink(socket));
                }
            } catch (IOException e) {
                // this connection failed, or the server was closed
            }
        }
    }

    @Override
    public void close() {
        try {
            server.close();
            acceptor.join();
        } catch (IOException e) {
            // the socket is gone all the same
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        waiting.forEach(TcpControlLink::close);
        waiting.clear();
    }
}
