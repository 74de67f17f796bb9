package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.ring.SlotDescriptor;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.rdma.session.ControlMessage.Hello;
import io.github.gpujoin.rdma.session.ControlMessage.Proof;
import io.github.gpujoin.rdma.session.ControlMessage.Refuse;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import io.github.gpujoin.rdma.testing.SimulatedTransport;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Handshakes, fencing, limits and timeouts, in virtual time on a network without faults. */
@ExtendWith(RegionLeakExtension.class)
class SessionTest {

    private static final UUID JOB = new UUID(3, 4);
    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final SessionOptions OPTIONS = SessionOptions.DEFAULT;

    private final JobSecret secret = JobSecret.random();
    private final VirtualLinks links = new VirtualLinks(new Random(1), MS);
    private final SimulatedTransport transport =
            new SimulatedTransport(SimulatedFaults.NONE, 1, this::networkNowNs);
    private final SessionListener listener =
            new SessionListener(JOB, secret, OPTIONS, new SessionListener.Limits(3, 5));
    private final ReaderSession reader =
            new ReaderSession(0, RingGeometry.forPayload(4, 64), transport, OPTIONS, 0);
    private final List<WriterSession> writers = new ArrayList<>();
    private VirtualLinks.End lastDialled;
    private long nowNs;

    /** Delay that is added to late writes. */
    private long networkAheadNs;

    SessionTest() {
        listener.add(reader);
    }

    private long networkNowNs() {
        return nowNs + networkAheadNs;
    }

    @AfterEach
    void closeAll() {
        writers.forEach(WriterSession::close);
        listener.close();
        reader.close();
        transport.close();
    }

    @Test
    void shouldOpenAfterTheHandshakeAndDeliver() throws Exception {
        WriterSession writer = writer(0, secret);
        run(20);
        assertThat(writer.state()).isEqualTo(WriterState.OPEN);
        assertThat(reader.state()).isEqualTo(ReaderState.OPEN);
        write(writer, 42);
        run(3);
        assertThat(read()).isEqualTo(42);
        reader.release();
        assertThat(writer.isDrained()).isFalse();
        run(10);
        assertThat(writer.isDrained()).isTrue();
    }

    @Test
    void shouldBeConnectedOnceTheTransportReachesTheReader() throws Exception {
        WriterSession writer = writer(0, secret);
        assertThat(writer.isConnected()).isFalse();
        run(20);
        assertThat(writer.isConnected()).isTrue();
        links.cutOne(false);
        run(2);
        assertThat(writer.isConnected()).isFalse();
        run(100);
        assertThat(writer.isConnected()).isTrue();
    }

    /** A working control connection alone does not deliver rows. */
    @Test
    void shouldFailIfTheTransportDoesNotReachTheReaderInTime() {
        WriterSession writer =
                add(
                        new WriterSession(
                                JOB,
                                0,
                                0,
                                secret.token(JOB, 0),
                                this::dial,
                                new BrokenTransport(transport),
                                OPTIONS,
                                0));
        long patienceNs = 2 * OPTIONS.reconnectTimeoutNs();
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(() -> run((int) (patienceNs / (2 * MS))))
                .withMessageContaining("reason=");
        assertThat(nowNs).isGreaterThan(OPTIONS.reconnectTimeoutNs());
        assertThat(reader.epoch()).as("the link was accepted").isPositive();
        assertThat(writer.isConnected()).isFalse();
    }

    @Test
    void shouldDisconnectTheWriterIfTheReaderFails() throws Exception {
        ReaderSession broken =
                new ReaderSession(
                        1,
                        RingGeometry.forPayload(4, 64),
                        new BrokenTransport(transport),
                        OPTIONS,
                        0);
        listener.add(broken);
        add(new WriterSession(JOB, 0, 1, secret.token(JOB, 0), this::dial, transport, OPTIONS, 0));
        run(20);
        assertThatIllegalStateException()
                .isThrownBy(() -> broken.step(nowNs))
                .withMessage("no target, as the test demands");
        assertThatIOException().isThrownBy(() -> lastDialled.receive());
        broken.close();
    }

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

    @ParameterizedTest(name = "silently: {0}")
    @ValueSource(booleans = {false, true})
    void shouldDetectTheDeathOfAPeerWithinASecond(boolean silently) throws Exception {
        WriterSession writer = writer(0, secret);
        run(20);
        long cutAtNs = nowNs;
        links.cutOne(silently);
        while (reader.state() == ReaderState.OPEN || writer.state() == WriterState.OPEN) {
            nowNs += 10 * MS;
            links.advanceTo(nowNs);
            step(writer);
            reader.step(nowNs);
        }
        assertThat(nowNs - cutAtNs).isLessThan(TimeUnit.SECONDS.toNanos(1));
    }

    @Test
    void shouldReplayFromTheLastReleasedSequence() throws Exception {
        WriterSession writer = writer(0, secret);
        run(20);
        for (int i = 1; i <= 4; i++) {
            write(writer, i);
        }
        run(3);
        for (int i = 1; i <= 2; i++) {
            assertThat(read()).isEqualTo(i);
            reader.release();
        }
        links.cutOne(false);
        run(200);
        assertThat(reader.epoch()).isEqualTo(2);
        for (int i = 3; i <= 4; i++) {
            assertThat(read()).isEqualTo(i);
            reader.release();
        }
        assertThat(reader.poll()).isFalse();
    }

    @Test
    void shouldResendASlotThatALateWriteOverwrote() throws Exception {
        WriterSession writer = writer(0, secret);
        run(20);
        transport.setFaults(new SimulatedFaults(0, 1000, 0, 0, 0, 0, OPTIONS.slotTimeoutNs()));
        write(writer, 1); // arrives twice
        step(writer);
        transport.setFaults(SimulatedFaults.NONE);
        for (int i = 1; i <= 4; i++) {
            run(2);
            assertThat(read()).isEqualTo(i);
            reader.release();
            run(2);
            write(writer, i + 1);
        }
        run(2);
        assertThat(reader.poll()).as("the fifth payload, in the slot of the first").isTrue();
        networkAheadNs = OPTIONS.slotTimeoutNs();
        transport.deliver();
        byte[] payload = new byte[reader.lengthBytes()];
        assertThat(reader.copyTo(payload)).as("after the second arrival").isFalse();
        assertThat(reader.poll()).isFalse();
        run(500);
        assertThat(reader.epoch()).isEqualTo(2);
        assertThat(read()).isEqualTo(5);
    }

    /** Retransmission would add load to a network that is slow because of its load. */
    @Test
    void shouldNotResendSlotsInFlightOnASlowNetwork() throws Exception {
        WriterSession writer = writer(0, secret);
        run(20);
        int roundBytes = 4 * (SlotDescriptor.PAYLOAD_OFFSET + 16);
        transport.setByteNs(3 * OPTIONS.slotTimeoutNs() / roundBytes);
        int written = 0;
        int read = 0;
        for (long untilNs = nowNs + OPTIONS.reconnectTimeoutNs(); nowNs < untilNs; run(1)) {
            while (written < 12 && writer.hasCredit()) {
                write(writer, ++written);
            }
            if (reader.poll()) {
                assertThat(read()).isEqualTo(++read);
                reader.release();
            }
        }
        assertThat(read).isEqualTo(12);
        assertThat(reader.epoch()).isEqualTo(1);
        assertThat(writer.isDrained()).isTrue();
    }

    @Test
    void shouldFailWithItsReasonIfNoPeerConnects() {
        WriterSession writer =
                add(
                        new WriterSession(
                                JOB,
                                0,
                                0,
                                secret.token(JOB, 0),
                                () -> {
                                    throw new IOException("no route");
                                },
                                transport,
                                OPTIONS,
                                0));
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(
                        () -> {
                            for (; nowNs < 2 * OPTIONS.reconnectTimeoutNs(); nowNs += 10 * MS) {
                                writer.step(nowNs);
                            }
                        })
                .withMessageContaining("reconnectTimeoutMs=30000, reason=no route");
    }

    @Test
    void shouldWaitIndefinitelyOnlyForTheFirstWriter() throws Exception {
        nowNs = 2 * OPTIONS.reconnectTimeoutNs();
        reader.step(nowNs);
        assertThat(reader.state()).isEqualTo(ReaderState.WAITING);
        WriterSession writer = writer(0, secret);
        run(20);
        assertThat(reader.state()).isEqualTo(ReaderState.OPEN);
        writer.close();
        writers.clear();
        run(20);
        nowNs += OPTIONS.reconnectTimeoutNs() + MS;
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(() -> reader.step(nowNs))
                .withMessageContaining("reason=Peer closed the session");
        assertThat(reader.state()).isEqualTo(ReaderState.FAILED);
    }

    @Test
    void shouldDelayTheWritersFailureUntilTheReaderHasReportedIts() throws Exception {
        WriterSession writer = writer(0, secret);
        run(20);
        reader.close();
        for (long untilNs = nowNs + OPTIONS.reconnectTimeoutNs() - 100 * MS; nowNs < untilNs; ) {
            nowNs += 10 * MS;
            links.advanceTo(nowNs);
            writer.step(nowNs);
        }
        assertThat(writer.state()).isEqualTo(WriterState.DISCONNECTED);
        assertThat(links.accept()).as("a new connection").isNull();
        nowNs += 200 * MS;
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(() -> writer.step(nowNs))
                .withMessageContaining("reason=Peer closed the session");
    }

    /** The writer only sees that the reader is gone. */
    @Test
    void shouldFailTheReaderAtOnceIfItCannotAllocateARing() throws Exception {
        SimulatedTransport closed =
                new SimulatedTransport(SimulatedFaults.NONE, 1, this::networkNowNs);
        closed.close();
        ReaderSession poor =
                new ReaderSession(1, RingGeometry.forPayload(4, 64), closed, OPTIONS, 0);
        listener.add(poor);
        add(new WriterSession(JOB, 0, 1, secret.token(JOB, 0), this::dial, transport, OPTIONS, 0));
        run(20);
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(() -> poor.step(nowNs))
                .withMessageContaining("state=FAILED")
                .withMessageContaining("reason=The transport is closed");
        assertThat(poor.state()).isEqualTo(ReaderState.FAILED);
        poor.close();
    }

    @Test
    void shouldReportTheFirstReasonOfALossWithTheLast() throws Exception {
        WriterSession writer = writer(0, secret);
        run(20);
        links.cutOne(true);
        listener.remove(reader);
        for (int i = 0; i < 100; i++) {
            nowNs += 10 * MS;
            links.advanceTo(nowNs);
            writer.step(nowNs);
            if (links.accept() != null) {
                lastDialled.close();
            }
        }
        assertThat(writer.lastLoss())
                .startsWith("No message from the peer")
                .endsWith("; then: the link is broken");
    }

    private WriterSession writer(int attempt, JobSecret by) {
        return add(
                new WriterSession(
                        JOB,
                        attempt,
                        0,
                        by.token(JOB, attempt),
                        this::dial,
                        transport,
                        OPTIONS,
                        nowNs));
    }

    private WriterSession add(WriterSession writer) {
        writers.add(writer);
        return writer;
    }

    private ControlLink dial() {
        lastDialled = links.dial();
        return lastDialled;
    }

    private static ControlMessage only(List<ControlMessage> all, Class<?> type) {
        return all.stream().filter(type::isInstance).findFirst().orElseThrow();
    }

    private static void write(WriterSession writer, long word) {
        byte[] payload = new byte[16];
        Memory.putLong(payload, Memory.BYTES, word);
        assertThat(writer.tryWrite(payload, Memory.BYTES, payload.length)).isTrue();
    }

    /** Returns the first word of the next payload. */
    private long read() {
        assertThat(reader.poll()).isTrue();
        byte[] payload = new byte[reader.lengthBytes()];
        assertThat(reader.copyTo(payload)).isTrue();
        return Memory.getLong(payload, Memory.BYTES);
    }

    private void step(WriterSession writer) throws SessionException {
        transport.deliver();
        writer.step(nowNs);
    }

    private void accept() {
        for (VirtualLinks.End link; (link = links.accept()) != null; ) {
            listener.accept(link, InetAddress.getLoopbackAddress(), nowNs);
        }
        listener.step(nowNs);
    }

    private void run(int turns) throws SessionException {
        for (int i = 0; i < turns; i++) {
            nowNs += 2 * MS;
            links.advanceTo(nowNs);
            for (WriterSession writer : writers) {
                step(writer);
            }
            accept();
            reader.step(nowNs);
        }
    }
}
