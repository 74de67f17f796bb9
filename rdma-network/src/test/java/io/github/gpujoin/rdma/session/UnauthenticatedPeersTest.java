// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.ControlMessage.Hello;
import io.github.gpujoin.rdma.session.ControlMessage.Progress;
import io.github.gpujoin.rdma.transport.shm.ShmTransport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process of the same host floods the control server of sessions. */
@Timeout(60)
class UnauthenticatedPeersTest {

    private static final UUID JOB = new UUID(1, 2);
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private final JobSecret secret = JobSecret.random();
    private final SessionListener listener =
            new SessionListener(
                    JOB, secret, SessionOptions.DEFAULT, SessionListener.Limits.DEFAULT);
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final List<ReaderSession> readers = new ArrayList<>();
    private final List<WriterSession> writers = new ArrayList<>();
    @TempDir private Path directory;
    private ShmTransport transport;
    private TcpControlServer server;

    @BeforeEach
    void open() throws Exception {
        transport = keep(new ShmTransport(directory));
        server =
                keep(
                        new TcpControlServer(
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                                ControlSockets.PLAIN));
        keep(listener);
        for (int channel = 0; channel < 2; channel++) {
            ReaderSession reader =
                    new ReaderSession(
                            channel,
                            RingGeometry.forPayload(4, 64),
                            transport,
                            SessionOptions.DEFAULT,
                            System.nanoTime());
            readers.add(keep(reader));
            listener.add(reader);
        }
    }

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    @Test
    void shouldAdmitAWriterBesideSilentPeers() throws Exception {
        for (int i = 0; i < 100; i++) {
            keep(connect());
            step();
        }
        long startNs = System.nanoTime();
        WriterSession writer = writer(0);
        stepUntilConnected(writer);
        assertThat(System.nanoTime() - startNs).isLessThan(3 * SECOND_NS);
    }

    /** Hundreds of connections a second, each with a hello and 1,000 messages. */
    @Test
    void shouldDeliverAndAdmitDuringAFloodOfMessages() throws Exception {
        WriterSession first = writer(0);
        stepUntilConnected(first);
        Thread attacker = new Thread(this::attack);
        attacker.setDaemon(true);
        attacker.start();
        int delivered = 0;
        WriterSession second = null;
        while (attacker.isAlive()) {
            delivered += deliver(first, readers.get(0)) ? 1 : 0;
            if (second == null && listener.refusedCount() > 100) {
                second = writer(1); // during the attack
            }
        }
        assertThat(readers.get(0).epoch()).as("connections of the session").isEqualTo(1);
        assertThat(delivered).isGreaterThan(1000);
        assertThat(second).isNotNull();
        assertThat(second.isConnected()).isTrue();
    }

    private void attack() {
        byte[] messages = flood();
        for (int i = 0; i < 2000; i++) {
            try (Socket peer = connect()) {
                peer.getOutputStream().write(messages);
            } catch (IOException e) {
                // the server closed the connection
            }
            LockSupport.parkNanos(SECOND_NS / 1000);
        }
    }

    private boolean deliver(WriterSession writer, ReaderSession reader) throws Exception {
        byte[] payload = new byte[64];
        boolean isWritten = writer.tryWrite(payload, Memory.BYTES, payload.length);
        step();
        if (!reader.poll() || !reader.copyTo(payload)) {
            return false;
        }
        reader.release();
        return isWritten;
    }

    private static byte[] flood() {
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        Hello hello = new Hello(JOB, 0, 0, Nonce.next(new SecureRandom()));
        messages.writeBytes(ControlCodec.encode(hello));
        for (int i = 0; i < 1000; i++) {
            messages.writeBytes(ControlCodec.encode(new Progress(1, i, i)));
        }
        return messages.toByteArray();
    }

    private void stepUntilConnected(WriterSession writer) throws Exception {
        while (!writer.isConnected()) {
            step();
            LockSupport.parkNanos(SECOND_NS / 1000);
        }
    }

    private void step() throws Exception {
        long nowNs = System.nanoTime();
        server.step(listener, nowNs);
        for (ReaderSession reader : readers) {
            reader.step(nowNs);
        }
        for (WriterSession writer : writers) {
            writer.step(nowNs);
        }
    }

    private WriterSession writer(int channel) {
        WriterSession writer =
                new WriterSession(
                        JOB,
                        0,
                        channel,
                        secret.token(JOB, 0),
                        TcpControlLink.dialer(server.address(), ControlSockets.PLAIN),
                        transport,
                        SessionOptions.DEFAULT,
                        System.nanoTime());
        opened.add(writer);
        writers.add(writer);
        return writer;
    }

    private Socket connect() throws IOException {
        return new Socket(server.address().getAddress(), server.address().getPort());
    }

    private <T extends AutoCloseable> T keep(T resource) {
        opened.add(resource);
        return resource;
    }
}
