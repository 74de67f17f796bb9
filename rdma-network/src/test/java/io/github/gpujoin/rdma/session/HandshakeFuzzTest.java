// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.ControlMessage.Challenge;
import io.github.gpujoin.rdma.session.ControlMessage.Refuse;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import io.github.gpujoin.rdma.testing.SimulatedTransport;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Peers without the secret send arbitrary bytes in arbitrary order: neither end of a channel admits
 * them, and neither fails.
 */
class HandshakeFuzzTest {

    private static final UUID JOB = new UUID(7, 8);
    private static final SessionOptions TIMES = SessionOptions.DEFAULT;
    private static final int MAX_MESSAGES = 8;

    private final JobSecret secret = JobSecret.random();
    private final SimulatedTransport transport =
            new SimulatedTransport(SimulatedFaults.NONE, 1, () -> 0);

    /** A peer that sends recorded bytes. */
    private static final class UnauthenticatedPeer implements ControlLink {

        private final DataInputStream in;
        private final List<ControlMessage> received = new ArrayList<>();
        private boolean closed;

        UnauthenticatedPeer(byte[] bytes) {
            in = new DataInputStream(new ByteArrayInputStream(bytes));
        }

        @Override
        public void send(ControlMessage message) {
            received.add(message);
        }

        @Override
        public ControlMessage receive() throws IOException {
            return in.available() == 0 ? null : ControlCodec.read(in);
        }

        @Override
        public String peer() {
            return "unauthenticated";
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    static Stream<byte[]> conversations() {
        return Stream.concat(
                        ControlCodecFuzzTest.messages().map(List::of),
                        Stream.of(ControlCodecFuzzTest.messages().toList()))
                .map(HandshakeFuzzTest::frames);
    }

    @MethodSource("conversations")
    @FuzzTest(maxDuration = "5m")
    void shouldAdmitNoUnauthenticatedPeer(byte[] bytes) throws Exception {
        if (bytes != null) {
            writeUnauthenticated(bytes);
            readUnauthenticated(bytes);
        }
    }

    /** Messages of a handshake in any order, some of them damaged. */
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldAdmitNoUnauthenticatedPeerInAnyOrder(long seed) throws Exception {
        Random random = new Random(seed);
        List<ControlMessage> messages = ControlCodecFuzzTest.messages().toList();
        for (int i = 0; i < 500; i++) {
            byte[] bytes =
                    frames(
                            random.ints(1 + random.nextInt(4), 0, messages.size())
                                    .mapToObj(messages::get)
                                    .toList());
            if (random.nextBoolean()) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            shouldAdmitNoUnauthenticatedPeer(bytes);
        }
    }

    private void writeUnauthenticated(byte[] bytes) throws SessionException {
        UnauthenticatedPeer peer = new UnauthenticatedPeer(bytes);
        try (SessionListener listener =
                        new SessionListener(JOB, secret, TIMES, SessionListener.Limits.DEFAULT);
                ReaderSession reader =
                        new ReaderSession(4, RingGeometry.forPayload(2, 64), transport, TIMES, 0)) {
            listener.add(reader);
            listener.accept(peer, InetAddress.getLoopbackAddress(), 0);
            for (int i = 0; i < MAX_MESSAGES; i++) {
                listener.step(i);
                reader.step(i);
            }
            listener.step(TIMES.handshakeTimeoutNs() + 1);
            assertThat(listener.pendingCount()).isZero();
            assertThat(reader.state()).isEqualTo(ReaderState.WAITING);
        }
        assertThat(peer.closed).isTrue();
        assertThat(peer.received)
                .allMatch(told -> told instanceof Challenge || told instanceof Refuse);
    }

    private void readUnauthenticated(byte[] bytes) {
        try (WriterSession writer =
                new WriterSession(
                        JOB,
                        3,
                        4,
                        secret.token(JOB, 3),
                        () -> new UnauthenticatedPeer(bytes),
                        transport,
                        TIMES,
                        0)) {
            for (int i = 0; i < MAX_MESSAGES; i++) {
                writer.step(i * TIMES.retryIntervalNs());
                assertThat(writer.state()).isIn(WriterState.DISCONNECTED, WriterState.GREETED);
            }
        } catch (SessionException e) {
            assertThat(e).hasMessageContaining("refusal=");
        }
    }

    private static byte[] frames(List<ControlMessage> messages) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        messages.forEach(message -> out.writeBytes(ControlCodec.encode(message)));
        return out.toByteArray();
    }
}
