package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.ControlMessage.Progress;
import io.github.gpujoin.rdma.transport.twin.TwinFaults;
import io.github.gpujoin.rdma.transport.twin.TwinTransport;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Handshakes over real sockets. */
@Timeout(60)
class TcpControlLinkTest {

    private static final UUID JOB = new UUID(8, 9);
    private static final String PASSWORD = "changeit";
    private static final long SHOW_NS = TimeUnit.MILLISECONDS.toNanos(300);

    @TempDir private static Path directory;

    private final JobSecret secret = JobSecret.random();
    private final TwinTransport twin = new TwinTransport(TwinFaults.NONE, 1, System::nanoTime);
    private final SessionListener listener =
            new SessionListener(
                    JOB, secret, SessionOptions.DEFAULT, SessionListener.Limits.DEFAULT);

    @Test
    void shouldOpenASessionOverMutualTls() throws Exception {
        SSLContext tls = context(keyStore("ours"), keyStore("ours"));
        assertThat(openWithin(tls, tls, Long.MAX_VALUE)).isEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldNotOpenASessionForAWriterWithoutACertificate() throws Exception {
        SSLContext server = context(keyStore("server"), keyStore("server"));
        SSLContext anonymous = context(null, keyStore("server"));
        assertThat(openWithin(server, anonymous, SHOW_NS)).isNotEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldNotOpenASessionWithAReaderThatIsNotTrusted() throws Exception {
        SSLContext server = context(keyStore("stranger"), keyStore("trusted"));
        SSLContext client = context(keyStore("trusted"), keyStore("trusted"));
        assertThat(openWithin(server, client, SHOW_NS)).isNotEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldCloseALinkThatSendsALengthOutOfBounds() throws Exception {
        try (TcpControlServer server = new TcpControlServer(loopback(0), null);
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

    @Test
    void shouldReceiveWhatCameBeforeThePeerClosed() throws Exception {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(loopback(0));
            InetSocketAddress address = (InetSocketAddress) server.getLocalSocketAddress();
            try (ControlLink link = TcpControlLink.dialer(address, null).dial();
                    Socket peer = server.accept()) {
                peer.getOutputStream().write(ControlCodec.encode(new Progress(1, 2)));
                peer.close();
                ControlMessage message;
                do {
                    message = link.receive();
                } while (message == null);
                assertThat(message).isEqualTo(new Progress(1, 2));
                assertThatExceptionOfType(IOException.class)
                        .isThrownBy(
                                () -> {
                                    while (link.receive() == null) {
                                        Thread.onSpinWait();
                                    }
                                })
                        .withMessageStartingWith("the peer is gone: peer=");
            }
        }
    }

    /** State of a writer once it is open, or after a time in which it would have been. */
    private WriterState openWithin(SSLContext server, SSLContext client, long timeNs)
            throws Exception {
        long startNs = System.nanoTime();
        try (TcpControlServer door = new TcpControlServer(loopback(0), server);
                ReaderSession reader =
                        new ReaderSession(
                                0,
                                RingGeometry.forPayload(2, 64),
                                twin,
                                SessionOptions.DEFAULT,
                                startNs);
                WriterSession writer =
                        new WriterSession(
                                JOB,
                                0,
                                0,
                                secret.token(JOB, 0),
                                TcpControlLink.dialer(door.address(), client),
                                twin,
                                SessionOptions.DEFAULT,
                                startNs)) {
            listener.add(reader);
            while (writer.state() != WriterState.OPEN && System.nanoTime() - startNs < timeNs) {
                writer.step(System.nanoTime());
                door.step(listener, System.nanoTime());
                reader.step(System.nanoTime());
            }
            return writer.state();
        }
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** A key and its own certificate, which is both shown and trusted. */
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

    private static SSLContext context(KeyStore own, KeyStore trusted) throws Exception {
        KeyManagerFactory keys =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, PASSWORD.toCharArray());
        TrustManagerFactory trust =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }
}
