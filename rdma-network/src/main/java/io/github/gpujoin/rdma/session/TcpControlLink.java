// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * Control connection over TCP or TLS.
 *
 * <p>Each link has a thread that connects, runs the TLS handshake and then reads, because TLS
 * sockets support only blocking calls. It queues at most {@value #MAX_UNREAD} messages. So neither
 * end waits for the other, and two processes that dial each other cannot deadlock. Sending writes
 * to the socket directly: messages are small and few, and a peer that reads none of them times out
 * before the socket's buffer is full.
 */
public final class TcpControlLink implements ControlLink {

    private static final int MAX_UNREAD = 1024;

    /** A hello and a proof. A peer that sends more before it is admitted is disconnected. */
    private static final int MAX_UNAUTHENTICATED = 2;

    private static final int BUFFER_BYTES = 1024;
    private static final int CONNECT_TIMEOUT_MS = 1000;

    /** Bound on frames sent before the link is up; a writer sends a hello only. */
    private static final int MAX_QUEUED = 4;

    private final Socket socket;
    private final @Nullable InetSocketAddress target;
    private final String peer;
    private final Queue<ControlMessage> unread = new LinkedBlockingQueue<>(MAX_UNREAD);
    private final Queue<byte[]> queued = new ArrayDeque<>();
    private volatile @Nullable IOException end;

    /** Failure of this process; the peer is not at fault. */
    private volatile @Nullable Throwable breakdown;

    private volatile boolean admitted;

    /** Null until the link is up; guarded by {@link #queued}. */
    private @Nullable OutputStream out;

    /** Used only by the thread that receives. */
    private boolean started;

    /** Wraps an accepted socket; reading starts with the first {@link #receive}. */
    TcpControlLink(Socket accepted) {
        this(accepted, null, String.valueOf(accepted.getRemoteSocketAddress()));
    }

    private TcpControlLink(Socket socket, @Nullable InetSocketAddress target, String peer) {
        this.socket = socket;
        this.target = target;
        this.peer = peer;
        this.admitted = target != null;
    }

    /**
     * Returns a dialer to a {@link TcpControlServer}.
     *
     * @param server its name is resolved again for each connection
     */
    public static Dialer dialer(InetSocketAddress server, ControlSockets sockets) {
        return () -> {
            TcpControlLink link =
                    new TcpControlLink(
                            sockets.client().createSocket(), server, String.valueOf(server));
            link.start();
            return link;
        };
    }

    private void start() {
        started = true;
        Thread thread = new Thread(this::run, "gpu-join control link " + peer);
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            connect();
            sendQueued();
            readAll();
        } catch (EOFException e) {
            end = new IOException("Peer closed the connection: peer=" + peer, e);
        } catch (ProtocolException e) {
            end = e; // the socket stays open for an answer
        } catch (SSLException e) {
            end =
                    new IOException(
                            "TLS handshake failed: peer="
                                    + peer
                                    + ", reason="
                                    + e.getMessage()
                                    + ". Both ends need TLS and must trust each other's certificate.",
                            e);
        } catch (IOException e) {
            end = new IOException("Link broke: peer=" + peer + ", reason=" + e.getMessage(), e);
        } catch (RuntimeException | Error e) {
            breakdown = e;
        }
    }

    private void connect() throws IOException {
        if (target != null) {
            try {
                // Resolve the name again each time: a failover may change its address.
                socket.connect(
                        new InetSocketAddress(target.getHostString(), target.getPort()),
                        CONNECT_TIMEOUT_MS);
            } catch (IOException e) {
                throw new IOException(
                        "the reader is unreachable, cause=%s. Check that its process runs and that no firewall blocks the port."
                                .formatted(e.getMessage()),
                        e);
            }
        }
        socket.setTcpNoDelay(true);
        if (socket instanceof SSLSocket secure) {
            secure.setEnabledProtocols(TcpControlServer.modern(secure.getEnabledProtocols()));
            secure.startHandshake();
        }
    }

    private void sendQueued() throws IOException {
        synchronized (queued) {
            for (byte[] frame : queued) {
                socket.getOutputStream().write(frame);
            }
            queued.clear();
            out = socket.getOutputStream();
        }
    }

    private void readAll() throws IOException {
        DataInputStream in =
                new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES));
        for (long count = 1; ; count++) {
            ControlMessage message = ControlCodec.read(in);
            if (count > MAX_UNAUTHENTICATED && !admitted) {
                throw new ProtocolException(
                        "Too many messages before the proof was checked: max="
                                + MAX_UNAUTHENTICATED);
            }
            if (!unread.offer(message)) {
                throw new ProtocolException(
                        "Peer sends faster than this process reads: unread=" + MAX_UNREAD);
            }
        }
    }

    /** Never blocks: before the link is up, the message is queued. */
    @Override
    public void send(ControlMessage message) throws IOException {
        byte[] frame = ControlCodec.encode(message);
        OutputStream stream;
        synchronized (queued) {
            stream = out;
            if (stream == null) {
                if (queued.size() == MAX_QUEUED) {
                    throw new IOException("Too many messages before the link is up: peer=" + peer);
                }
                queued.add(frame);
                return;
            }
        }
        stream.write(frame);
    }

    @Override
    public @Nullable ControlMessage receive() throws IOException {
        if (!started) {
            start();
        }
        Throwable broken = breakdown;
        if (broken != null) {
            throw new IllegalStateException("A link's thread broke down: " + broken, broken);
        }
        IOException ended = end; // read before the queue: earlier messages are received first
        ControlMessage message = unread.poll();
        if (message == null && ended != null) {
            throw ended;
        }
        return message;
    }

    @Override
    public void admit() {
        admitted = true;
    }

    /** Remote address of an accepted link. */
    InetAddress address() {
        return socket.getInetAddress();
    }

    @Override
    public String peer() {
        return peer;
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            // the socket is released even so
        }
    }
}
