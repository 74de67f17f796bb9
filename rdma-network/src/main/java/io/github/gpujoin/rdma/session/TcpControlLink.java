package io.github.gpujoin.rdma.session;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * Control connection over TCP, or TLS where a context is given.
 *
 * <p>One thread a link reads, because TLS sockets know no other way; it holds at most {@value
 * #MAX_UNREAD} messages. Sending writes to the socket directly: messages are small and few, and a
 * peer that reads none of them is cut off before the socket's buffer is full.
 */
public final class TcpControlLink implements ControlLink {

    private static final int MAX_UNREAD = 1024;
    private static final int CONNECT_TIMEOUT_MS = 1000;

    private final Socket socket;
    private final OutputStream out;
    private final String peer;
    private final Queue<ControlMessage> unread = new LinkedBlockingQueue<>(MAX_UNREAD);
    private volatile IOException end;

    /** Takes over a connected socket, and closes it where that fails. */
    TcpControlLink(Socket socket) throws IOException {
        this.socket = socket;
        this.peer = String.valueOf(socket.getRemoteSocketAddress());
        try {
            socket.setTcpNoDelay(true);
            this.out = socket.getOutputStream();
        } catch (IOException e) {
            socket.close();
            throw e;
        }
        Thread reader = new Thread(this::readAll, "gpu-join control link " + peer);
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Makes connections to a {@link TcpControlServer}.
     *
     * @param tls for mutual authentication, or null for none
     */
    public static Dialer dialer(InetSocketAddress server, SSLContext tls) {
        return () -> {
            Socket socket = tls == null ? new Socket() : tls.getSocketFactory().createSocket();
            try {
                if (socket instanceof SSLSocket secure) {
                    SSLParameters parameters = secure.getSSLParameters();
                    parameters.setProtocols(TcpControlServer.TLS_PROTOCOLS);
                    secure.setSSLParameters(parameters);
                }
                // resolved anew each time: after a failover a name may stand for another address
                socket.connect(
                        new InetSocketAddress(server.getHostString(), server.getPort()),
                        CONNECT_TIMEOUT_MS);
            } catch (IOException e) {
                socket.close();
                throw new IOException(
                        "the reader cannot be reached: address=" + server + ", " + e.getMessage(),
                        e);
            }
            return new TcpControlLink(socket);
        };
    }

    private void readAll() {
        try {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            while (true) {
                int length = ControlCodec.checkLength(Integer.reverseBytes(in.readInt()));
                byte[] body = new byte[length];
                in.readFully(body);
                if (!unread.offer(ControlCodec.decode(body))) {
                    throw new ProtocolException(
                            "messages are read as they come: unread=" + MAX_UNREAD);
                }
            }
        } catch (EOFException e) {
            end = new IOException("the peer is gone: peer=" + peer, e);
        } catch (ProtocolException e) {
            end = e; // the socket stays open for an answer
        } catch (IOException e) {
            end = new IOException("the link broke: peer=" + peer + ", " + e.getMessage(), e);
        }
    }

    @Override
    public void send(ControlMessage message) throws IOException {
        out.write(ControlCodec.encode(message));
        out.flush();
    }

    @Override
    public ControlMessage receive() throws IOException {
        IOException ended = end; // before the queue: what came earlier is received first
        ControlMessage message = unread.poll();
        if (message == null && ended != null) {
            throw ended;
        }
        return message;
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
