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

/**
 * Control connection over TCP or TLS.
 *
 * <p>One thread a link connects, goes through TLS's handshake and then reads, because TLS sockets
 * know no other way; it holds at most {@value #MAX_UNREAD} messages. So neither end waits for the
 * other, and two processes that dial each other cannot stop each other. Sending writes to the
 * socket directly: messages are small and few, and a peer that reads none of them is cut off before
 * the socket's buffer is full.
 */
public final class TcpControlLink implements ControlLink {

    private static final int MAX_UNREAD = 1024;

    /** A hello and a proof; who sends more before it is admitted is cut off. */
    private static final int MAX_UNADMITTED = 2;

    private static final int BUFFER_BYTES = 1024;
    private static final int CONNECT_TIMEOUT_MS = 1000;

    /** Frames sent before the link is up: a writer's hello, and no more. */
    private static final int MAX_EARLY = 4;

    private final Socket socket;
    private final InetSocketAddress target;
    private final String peer;
    private final Queue<ControlMessage> unread = new LinkedBlockingQueue<>(MAX_UNREAD);
    private final Queue<byte[]> early = new ArrayDeque<>();
    private volatile IOException end;

    /** What this process threw, null as a rule: no peer's doing, and to be reported as it is. */
    private volatile Throwable breakdown;

    private volatile boolean admitted;

    /** Once frames go to the socket, null before; guarded by {@link #early}. */
    private OutputStream out;

    /** Of the thread that receives. */
    private boolean started;

    /** Takes over an accepted socket; nothing more is done before the first {@link #receive}. */
    TcpControlLink(Socket accepted) {
        this(accepted, null, String.valueOf(accepted.getRemoteSocketAddress()));
    }

    private TcpControlLink(Socket socket, InetSocketAddress target, String peer) {
        this.socket = socket;
        this.target = target;
        this.peer = peer;
        this.admitted = target != null;
    }

    /** Makes connections to a {@link TcpControlServer}. */
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
            sendEarly();
            readAll();
        } catch (EOFException e) {
            end = new IOException("the peer is gone: peer=" + peer, e);
        } catch (ProtocolException e) {
            end = e; // the socket stays open for an answer
        } catch (SSLException e) {
            end =
                    new IOException(
                            "both ends speak TLS and trust each other's certificate: peer="
                                    + peer
                                    + ", reason="
                                    + e.getMessage(),
                            e);
        } catch (IOException e) {
            end = new IOException("the link broke: peer=" + peer + ", " + e.getMessage(), e);
        } catch (RuntimeException | Error e) {
            breakdown = e;
        }
    }

    private void connect() throws IOException {
        if (target != null) {
            try {
                // resolved anew each time: after a failover a name may stand for another address
                socket.connect(
                        new InetSocketAddress(target.getHostString(), target.getPort()),
                        CONNECT_TIMEOUT_MS);
            } catch (IOException e) {
                throw new IOException("the reader cannot be reached, " + e.getMessage(), e);
            }
        }
        socket.setTcpNoDelay(true);
        if (socket instanceof SSLSocket secure) {
            secure.setEnabledProtocols(TcpControlServer.modern(secure.getEnabledProtocols()));
            secure.startHandshake();
        }
    }

    private void sendEarly() throws IOException {
        synchronized (early) {
            for (byte[] frame : early) {
                socket.getOutputStream().write(frame);
            }
            early.clear();
            out = socket.getOutputStream();
        }
    }

    private void readAll() throws IOException {
        DataInputStream in =
                new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES));
        for (long count = 1; ; count++) {
            ControlMessage message = ControlCodec.read(in);
            if (count > MAX_UNADMITTED && !admitted) {
                throw new ProtocolException(
                        "Too many messages before the proof was checked: max=" + MAX_UNADMITTED);
            }
            if (!unread.offer(message)) {
                throw new ProtocolException("messages are read as they come: unread=" + MAX_UNREAD);
            }
        }
    }

    /** Never waits for a link that is not up yet: what is sent then follows when it is. */
    @Override
    public void send(ControlMessage message) throws IOException {
        byte[] frame = ControlCodec.encode(message);
        OutputStream stream;
        synchronized (early) {
            stream = out;
            if (stream == null) {
                if (early.size() == MAX_EARLY) {
                    throw new IOException("the link is not up yet: peer=" + peer);
                }
                early.add(frame);
                return;
            }
        }
        stream.write(frame);
    }

    @Override
    public ControlMessage receive() throws IOException {
        if (!started) {
            start();
        }
        Throwable broken = breakdown;
        if (broken != null) {
            throw new IllegalStateException("A link's thread broke down: " + broken, broken);
        }
        IOException ended = end; // before the queue: what came earlier is received first
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

    /** Where an accepted link comes from. */
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
            // there is nothing left to give back
        }
    }
}
