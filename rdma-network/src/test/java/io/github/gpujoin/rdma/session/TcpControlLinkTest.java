// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.ControlMessage.Progress;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import io.github.gpujoin.rdma.testing.SimulatedTransport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Handshakes and messages over real sockets, with and without TLS. */
@Timeout(60)
class TcpControlLinkTest {

    private static final UUID JOB = new UUID(8, 9);
    private static final String PASSWORD = "changeit";
    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SHOW_NS = TimeUnit.MILLISECONDS.toNanos(300);
    @TempDir private static Path directory;

    private final JobSecret secret = JobSecret.random();
    private final SimulatedTransport transport =
            new SimulatedTransport(SimulatedFaults.NONE, 1, System::nanoTime);
    private final SessionListener listener =
            new SessionListener(
                    JOB, secret, SessionOptions.DEFAULT, SessionListener.Limits.DEFAULT);

    @Test
    void shouldOpenASessionOverMutualTls() throws Exception {
        ControlSockets tls = tls(keyStore("ours"), keyStore("ours"));
        assertThat(openWithin(tls, tls, Long.MAX_VALUE)).isEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldNotOpenASessionForAWriterWithoutACertificate() throws Exception {
        ControlSockets server = tls(keyStore("server"), keyStore("server"));
        ControlSockets anonymous = tls(null, keyStore("server"));
        assertThat(openWithin(server, anonymous, SHOW_NS)).isNotEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldNotOpenASessionWithAnUntrustedReader() throws Exception {
        ControlSockets server = tls(keyStore("untrusted"), keyStore("trusted"));
        ControlSockets client = tls(keyStore("trusted"), keyStore("trusted"));
        assertThat(openWithin(server, client, SHOW_NS)).isNotEqualTo(WriterState.OPEN);
    }

    /**
     * The peer decides when a TLS handshake continues, so no thread of a session may wait for it.
     */
    @Test
    void shouldNotBlockOnAPeerThatNeverStartsTls() throws Exception {
        ControlSockets tls = tls(keyStore("ours"), keyStore("ours"));
        SessionOptions hasty = handshakeWithin(TimeUnit.MILLISECONDS.toNanos(50));
        try (TcpControlServer server = new TcpControlServer(loopback(0), tls);
                SessionListener hastyListener =
                        new SessionListener(
                                JOB, secret, hasty, new SessionListener.Limits(2, 100));
                Socket first = dumb(server);
                Socket second = dumb(server);
                Socket third = dumb(server)) {
            while (hastyListener.refusedCount() < 3) {
                server.step(hastyListener, System.nanoTime());
            }
            assertThat(hastyListener.pendingCount()).isZero();
            for (Socket socket : List.of(first, second, third)) {
                while (socket.getInputStream().read() != -1) {
                    // alerts of TLS before it closes
                }
            }
        }
    }

    @Test
    void shouldNotBlockOnAReaderThatNeverAnswers() throws Exception {
        ControlSockets tls = tls(keyStore("ours"), keyStore("ours"));
        try (ServerSocket silent = new ServerSocket()) {
            silent.bind(loopback(0));
            InetSocketAddress address = (InetSocketAddress) silent.getLocalSocketAddress();
            try (ControlLink link = TcpControlLink.dialer(address, tls).dial();
                    Socket peer = silent.accept()) {
                link.send(new Progress(1, 1, 1));
                assertThat(link.receive()).isNull();
                assertThat(peer.isConnected()).isTrue();
            }
        }
    }

    @Test
    void shouldReportThatOnlyOneEndUsesTls() throws Exception {
        ControlSockets tls = tls(keyStore("ours"), keyStore("ours"));
        assertThat(lossWithin(ControlSockets.PLAIN, tls)).startsWith("TLS handshake failed: peer=");
    }

    @Test
    void shouldReportAnUnreachableReader() throws Exception {
        InetSocketAddress closed;
        try (ServerSocket server = new ServerSocket()) {
            server.bind(loopback(0));
            closed = (InetSocketAddress) server.getLocalSocketAddress();
        }
        try (ControlLink link = TcpControlLink.dialer(closed, ControlSockets.PLAIN).dial()) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> receiveOne(link))
                    .withMessageContaining("the reader is unreachable");
        }
    }

    @Test
    void shouldAcceptOnlyTwoMessagesOfAnUnauthenticatedWriter() throws Exception {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(loopback(0));
            try (Socket peer = new Socket(server.getInetAddress(), server.getLocalPort());
                    TcpControlLink link = new TcpControlLink(server.accept())) {
                byte[] message = ControlCodec.encode(new Progress(1, 2, 2));
                for (int i = 0; i < 3; i++) {
                    peer.getOutputStream().write(message);
                }
                assertThat(receiveOne(link)).isEqualTo(new Progress(1, 2, 2));
                assertThat(receiveOne(link)).isEqualTo(new Progress(1, 2, 2));
                assertThatExceptionOfType(ProtocolException.class)
                        .isThrownBy(() -> receiveOne(link))
                        .withMessage("Too many messages before the proof was checked: max=2");
            }
        }
    }

    @Test
    void shouldReceiveMessagesSentBeforeThePeerClosed() throws Exception {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(loopback(0));
            InetSocketAddress address = (InetSocketAddress) server.getLocalSocketAddress();
            try (ControlLink link = TcpControlLink.dialer(address, ControlSockets.PLAIN).dial();
                    Socket peer = server.accept()) {
                peer.getOutputStream().write(ControlCodec.encode(new Progress(1, 2, 2)));
                peer.close();
                assertThat(receiveOne(link)).isEqualTo(new Progress(1, 2, 2));
                assertThatExceptionOfType(IOException.class)
                        .isThrownBy(() -> receiveOne(link))
                        .withMessageStartingWith("Peer closed the connection: peer=");
            }
        }
    }

    /** Returns the state of a writer once it is open, or after a timeout. */
    private WriterState openWithin(ControlSockets server, ControlSockets client, long timeNs)
            throws Exception {
        long endNs = timeNs == Long.MAX_VALUE ? timeNs : System.nanoTime() + timeNs;
        return meet(
                server,
                client,
                writer -> writer.state() == WriterState.OPEN || System.nanoTime() > endNs,
                WriterSession::state);
    }

    /** Returns why the first connection of a writer failed. */
    private String lossWithin(ControlSockets server, ControlSockets client) throws Exception {
        String before = meet(server, client, writer -> true, WriterSession::lastLoss);
        return meet(
                server,
                client,
                writer -> !writer.lastLoss().equals(before),
                WriterSession::lastLoss);
    }

    /** Steps a writer and a reader in one thread until a condition of the writer holds. */
    private <T> T meet(
            ControlSockets server,
            ControlSockets client,
            Predicate<WriterSession> until,
            Function<WriterSession, T> result)
            throws Exception {
        long startNs = System.nanoTime();
        try (TcpControlServer door = new TcpControlServer(loopback(0), server);
                ReaderSession reader =
                        new ReaderSession(
                                0,
                                RingGeometry.forPayload(2, 64),
                                transport,
                                SessionOptions.DEFAULT,
                                startNs);
                WriterSession writer =
                        new WriterSession(
                                JOB,
                                0,
                                0,
                                secret.token(JOB, 0),
                                TcpControlLink.dialer(door.address(), client),
                                transport,
                                SessionOptions.DEFAULT,
                                startNs)) {
            listener.add(reader);
            try {
                while (!until.test(writer)) {
                    writer.step(System.nanoTime());
                    door.step(listener, System.nanoTime());
                    reader.step(System.nanoTime());
                }
                return result.apply(writer);
            } finally {
                listener.remove(reader);
            }
        }
    }

    private static ControlMessage receiveOne(ControlLink link) throws IOException {
        ControlMessage message;
        while ((message = link.receive()) == null) {
            Thread.onSpinWait();
        }
        return message;
    }

    /** A peer that connects and sends nothing. */
    private static Socket dumb(TcpControlServer server) throws IOException {
        return new Socket(server.address().getAddress(), server.address().getPort());
    }

    private static SessionOptions handshakeWithin(long handshakeTimeoutNs) {
        SessionOptions usual = SessionOptions.DEFAULT;
        return new SessionOptions(
                usual.heartbeatIntervalNs(),
                usual.peerTimeoutNs(),
                usual.slotTimeoutNs(),
                handshakeTimeoutNs,
                usual.retryIntervalNs(),
                usual.reconnectTimeoutNs());
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** A key with a self-signed certificate, which is both presented and trusted. */
    private static KeyStore keyStore(String name) throws Exception {
        Path file = directory.resolve(name + ".p12");
        if (!Files.exists(file)) {
            Process keytool =
                    new ProcessBuilder(
                                    Path.of(System.getProperty("java.home"), "bin", "keytool")
                                            .toString(),
                                    "-genkeypair",
                                    "-alias",
                                    name,
                                    "-keyalg",
                                    "EC",
                                    "-dname",
                                    "CN=" + name,
                                    "-storetype",
                                    "PKCS12",
                                    "-keystore",
                                    file.toString(),
                                    "-storepass",
                                    PASSWORD)
                            .inheritIO()
                            .start();
            assertThat(keytool.waitFor()).isZero();
        }
        return KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
    }

    private static ControlSockets tls(KeyStore own, KeyStore trusted) throws Exception {
        KeyManagerFactory keys =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, PASSWORD.toCharArray());
        TrustManagerFactory trust =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), null);
        return new ControlSockets(context.getServerSocketFactory(), context.getSocketFactory());
    }
}
