// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.util.IOUtils;

/**
 * Stands between clients and a server on this machine and can cut, stall and slow what passes.
 * Bytes move both ways as they come, two threads a connection. Thread-safe.
 *
 * <p>Closing cuts all connections and frees the port.
 */
final class ConnectionProxy implements AutoCloseable {

    /** What happens to connections and to what they carry. */
    enum Mode {
        /** Bytes pass at once. */
        FORWARD,
        /** Bytes pass after {@value ConnectionProxy#DELAY_MS} ms. */
        DELAY,
        /** Bytes wait until the mode changes. */
        STALL,
        /** Connections are cut, and new ones too. */
        CUT
    }

    private static final long DELAY_MS = 50;
    private static final int BUFFER_BYTES = 16 << 10;

    private final ServerSocket listener;
    private final int targetPort;
    private final Set<Socket> open = new HashSet<>();
    private Mode mode = Mode.FORWARD;
    private boolean closed;

    private ConnectionProxy(ServerSocket listener, int targetPort) {
        this.listener = listener;
        this.targetPort = targetPort;
    }

    /** Listens on a free port of the loopback address, for connections to another one of it. */
    static ConnectionProxy to(int targetPort) throws IOException {
        ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        ConnectionProxy proxy = new ConnectionProxy(listener, targetPort);
        start("proxy-accept", proxy::accept);
        return proxy;
    }

    int port() {
        return listener.getLocalPort();
    }

    synchronized int openConnections() {
        return open.size() / 2;
    }

    synchronized void set(Mode next) {
        mode = next;
        if (mode == Mode.CUT) {
            cut();
        }
        notifyAll();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                connect(client);
            }
        } catch (IOException e) {
            // The listener was closed.
            return;
        }
    }

    private void connect(Socket client) {
        Socket server = null;
        try {
            server = new Socket(InetAddress.getLoopbackAddress(), targetPort);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            if (register(client, server)) {
                Socket target = server;
                start("proxy-out", () -> pump(client, target));
                start("proxy-in", () -> pump(target, client));
                return;
            }
        } catch (IOException e) {
            // Nobody listens there now: the client is told by the end of its connection.
            IOUtils.closeQuietly(server);
        }
        IOUtils.closeQuietly(client);
        IOUtils.closeQuietly(server);
    }

    private synchronized boolean register(Socket client, Socket server) {
        if (closed || mode == Mode.CUT) {
            return false;
        }
        open.addAll(List.of(client, server));
        return true;
    }

    private void pump(Socket from, Socket to) {
        byte[] buffer = new byte[BUFFER_BYTES];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                awaitPassage();
                out.write(buffer, 0, count);
            }
        } catch (IOException e) {
            // One end is gone or was cut; the other is closed with it.
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            forget(from, to);
        }
    }

    private synchronized void awaitPassage() throws InterruptedException {
        if (mode == Mode.DELAY) {
            wait(DELAY_MS);
        }
        while (mode == Mode.STALL) {
            wait();
        }
    }

    private synchronized void forget(Socket from, Socket to) {
        open.remove(from);
        open.remove(to);
    }

    private void cut() {
        for (Socket socket : open) {
            IOUtils.closeQuietly(socket);
        }
        open.clear();
    }

    private static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public synchronized void close() throws IOException {
        closed = true;
        mode = Mode.CUT;
        listener.close();
        cut();
        notifyAll();
    }
}
