// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.ring.SlotDescriptor;
import io.github.gpujoin.rdma.session.testing.BrokenTransport;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import io.github.gpujoin.rdma.testing.SimulatedTransport;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Delivery, replay, timeouts and failures of open sessions; in virtual time. */
class SessionTest extends SessionScenario {

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

    /** A slow sink keeps slots in use for as long as it likes; the writer need not wait for it. */
    @Test
    void shouldBeDrainedOnceTheReaderHasTakenEverything() throws Exception {
        WriterSession writer = writer(0, secret);
        run(20);
        write(writer, 1);
        write(writer, 2);
        run(3);
        assertThat(reader.poll()).isTrue();
        TakenSlot first = reader.take(true);
        run(100);
        assertThat(writer.isDrained()).as("one payload is not taken").isFalse();
        assertThat(read()).isEqualTo(2);
        reader.release();
        run(100);
        assertThat(writer.isDrained()).isTrue();
        assertThat(writer.acknowledgedSequence()).as("no credit").isZero();
        writers.remove(writer);
        writer.close();
        run(20);
        assertThat(reader.state()).isEqualTo(ReaderState.WAITING);
        assertThat(Memory.getLong(first.address())).isEqualTo(1);
        first.release();
        assertThat(reader.releasedSequence()).isEqualTo(2);
    }

    @Test
    void shouldFailTheWriterIfTheReaderTookWhatWasNotWritten() throws Exception {
        WriterSession writer = writer(0, secret);
        run(20);
        write(writer, 1);
        lastDialled.other.send(new ControlMessage.Progress(1, 0, 2));
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(() -> run(3))
                .withMessageContaining(
                        "Reader took a slot that was not written: written=1, taken=2");
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

    /** The losses of one slot do not count for the next. */
    @Test
    void shouldResendALostSlotUntilItArrives() throws Exception {
        WriterSession writer = writer(0, secret);
        run(20);
        for (int i = 1; i <= 2; i++) {
            transport.setFaults(new SimulatedFaults(1000, 0, 0, 0, 0, 0, 1));
            write(writer, i);
            long lastEpoch = reader.epoch() + ReaderRing.MAX_SENDS - 1;
            while (reader.epoch() < lastEpoch) {
                run(1);
            }
            transport.setFaults(SimulatedFaults.NONE);
            run(20);
            assertThat(read()).isEqualTo(i);
            reader.release();
            run(20);
        }
    }

    @Test
    void shouldFailTheReaderIfTheChecksumOfAWriterIsWrong() throws Exception {
        WriterSession writer = writer(0, secret);
        run(20);
        write(writer, 1);
        run(3);
        assertThat(read()).isEqualTo(1);
        reader.release();
        int wrongSum = 1;
        assertThat(writer.tryWrite(new byte[16], Memory.BYTES, 16, wrongSum)).isTrue();
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(() -> run(10_000))
                .withMessageContaining("state=FAILED")
                .withMessageContaining(
                        "Slot was sent 8 times and never arrived intact: slot=1, sequence=2,"
                                + " announced=2, found=TORN.");
        assertThat(reader.epoch()).isEqualTo(8);
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
        assertThat(writer.hasCredit()).isTrue();
        assertThat(writer.tryWrite(new byte[16], Memory.BYTES, 16))
                .as("a payload for a failed session")
                .isFalse();
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
}
