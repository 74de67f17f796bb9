// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.rdma.session.ControlMessage.Hello;
import io.github.gpujoin.rdma.session.ControlMessage.Proof;
import io.github.gpujoin.rdma.session.ControlMessage.Refuse;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;

/** Which writers a listener admits, refuses and displaces; in virtual time. */
class SessionHandshakeTest extends SessionScenario {

    @Test
    void shouldRefuseAWriterWithoutTheTokenOfItsAttempt() throws Exception {
        WriterSession writer =
                add(
                        new WriterSession(
                                JOB,
                                1,
                                0,
                                secret.token(JOB, 0),
                                this::dial,
                                transport,
                                OPTIONS,
                                0));
        run(50);
        assertThat(reader.attempt()).isEqualTo(-1);
        assertThat(writer.state()).isNotEqualTo(WriterState.OPEN);
        assertThat(writer.lastLoss()).startsWith("Reader does not hold the secret");
    }

    @Test
    void shouldRefuseARecordedHandshake() throws Exception {
        writer(0, secret);
        run(20);
        List<ControlMessage> recorded = List.copyOf(lastDialled.sent);
        VirtualLinks.End replay = links.dial();
        replay.send(only(recorded, Hello.class));
        run(5);
        replay.send(only(recorded, Proof.class));
        run(5);
        assertThat(replay.receive()).isInstanceOf(ControlMessage.Challenge.class);
        assertThat(replay.receive()).isEqualTo(new Refuse(Refusal.PROOF));
        assertThat(reader.epoch()).isEqualTo(1);
    }

    @Test
    void shouldRefuseAnEarlierAttemptPermanently() throws Exception {
        WriterSession later = writer(7, secret);
        run(20);
        WriterSession earlier = writer(6, secret);
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(() -> run(20))
                .withMessageContaining("A later attempt writes this channel: refusal=STALE_ATTEMPT")
                .withMessageContaining("attempt=6");
        assertThat(earlier.state()).isEqualTo(WriterState.FAILED);
        assertThat(later.state()).isEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldDisconnectAnEarlierAttemptWhenALaterOneConnects() throws Exception {
        WriterSession earlier = writer(0, secret);
        run(20);
        write(earlier, 1);
        WriterSession later = writer(1, secret);
        for (int i = 0; i < 10; i++) {
            nowNs += MS;
            links.advanceTo(nowNs);
            later.step(nowNs);
            accept();
            reader.step(nowNs);
        }
        assertThat(reader.attempt()).isEqualTo(1);
        write(earlier, 2);
        transport.deliver();
        assertThat(reader.poll()).as("writes of the earlier attempt").isFalse();
    }

    @Test
    void shouldRefuseAWriterOfAnotherJob() {
        UUID other = new UUID(5, 6);
        add(
                new WriterSession(
                        other, 0, 0, secret.token(other, 0), this::dial, transport, OPTIONS, 0));
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(() -> run(20))
                .withMessageContaining("refusal=CHANNEL");
    }

    @Test
    void shouldDisplaceTheOldestHandshakeOfTheHostWithTheMost() throws Exception {
        VirtualLinks.End otherHost = links.dial();
        listener.accept(links.accept(), InetAddress.getByName("192.0.2.1"), nowNs);
        List<VirtualLinks.End> idle = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            idle.add(links.dial());
            run(1);
        }
        assertThat(listener.pendingCount()).isEqualTo(3);
        assertThat(listener.refusedCount()).isEqualTo(1);
        assertThatIOException().isThrownBy(idle.get(0)::receive);
        assertThat(otherHost.receive()).as("still pending").isNull();
        WriterSession writer = writer(0, secret);
        run(20);
        assertThat(writer.isConnected()).as("admitted beside silent peers").isTrue();
        nowNs += OPTIONS.handshakeTimeoutNs() + MS;
        accept();
        assertThat(listener.pendingCount()).isZero();
    }

    @Test
    void shouldNotCountAWriterThatLeftAsRefusedEvenIfTlsWrapsItsEnd() {
        IOException left = new SSLException("handshake", new EOFException("no more bytes"));
        IOException reset = new SSLException("handshake", new SocketException("Broken pipe"));
        for (IOException end : List.of(left, reset, new SSLException("no TLS"))) {
            listener.accept(broken(end), InetAddress.getLoopbackAddress(), nowNs);
            listener.step(nowNs);
        }
        assertThat(listener.refusedCount()).as("the one without TLS").isEqualTo(1);
    }

    @Test
    void shouldRefuseAWriterWhoseLinkFailsAndServeTheOthers() throws Exception {
        AtomicBoolean closed = new AtomicBoolean();
        listener.accept(
                breakingDown(new IllegalStateException("out of step"), closed),
                InetAddress.getLoopbackAddress(),
                nowNs);
        listener.step(nowNs);
        assertThat(closed).isTrue();
        assertThat(listener.pendingCount()).isZero();
        assertThat(listener.refusedCount()).isEqualTo(1);
        WriterSession writer = writer(0, secret);
        run(20);
        assertThat(writer.isConnected()).isTrue();
    }

    @Test
    void shouldReportAnErrorOfThisProcessAfterServingTheOthers() {
        AtomicBoolean closed = new AtomicBoolean();
        AtomicBoolean otherClosed = new AtomicBoolean();
        Error breakdown = new OutOfMemoryError("unable to create native thread");
        InetAddress host = InetAddress.getLoopbackAddress();
        listener.accept(breakingDown(breakdown, closed), host, nowNs);
        listener.accept(breakingDown(new IllegalStateException(), otherClosed), host, nowNs);
        assertThatThrownBy(() -> listener.step(nowNs)).isSameAs(breakdown);
        assertThat(closed).isTrue();
        assertThat(otherClosed).isTrue();
    }

    private static ControlLink breakingDown(Throwable breakdown, AtomicBoolean closed) {
        return new ControlLink() {
            @Override
            public void send(ControlMessage message) {}

            @Override
            public ControlMessage receive() {
                if (breakdown instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) breakdown;
            }

            @Override
            public String peer() {
                return "peer";
            }

            @Override
            public void close() {
                closed.set(true);
            }
        };
    }

    /** A link that fails with this cause. */
    private static ControlLink broken(IOException reason) {
        return new ControlLink() {
            @Override
            public void send(ControlMessage message) throws IOException {
                throw new IOException("the link broke", reason);
            }

            @Override
            public ControlMessage receive() throws IOException {
                throw new IOException("the link broke", reason);
            }

            @Override
            public String peer() {
                return "peer";
            }

            @Override
            public void close() {}
        };
    }

    private static ControlMessage only(List<ControlMessage> all, Class<?> type) {
        return all.stream().filter(type::isInstance).findFirst().orElseThrow();
    }
}
