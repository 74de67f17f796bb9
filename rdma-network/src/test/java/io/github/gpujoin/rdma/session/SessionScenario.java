// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import io.github.gpujoin.rdma.testing.SimulatedTransport;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * One channel in virtual time: a reader, its listener and writers, on control connections and a
 * transport that are simulated. Tests of sessions extend it and call {@link #run}.
 */
@ExtendWith(RegionLeakExtension.class)
abstract class SessionScenario {

    static final UUID JOB = new UUID(3, 4);
    static final long MS = TimeUnit.MILLISECONDS.toNanos(1);
    static final SessionOptions OPTIONS = SessionOptions.DEFAULT;

    final JobSecret secret = JobSecret.random();
    final VirtualLinks links = new VirtualLinks(new Random(1), MS);
    final SimulatedTransport transport =
            new SimulatedTransport(SimulatedFaults.NONE, 1, this::networkNowNs);
    final SessionListener listener =
            new SessionListener(JOB, secret, OPTIONS, new SessionListener.Limits(3, 5));
    final ReaderSession reader =
            new ReaderSession(0, RingGeometry.forPayload(4, 64), transport, OPTIONS, 0);
    final List<WriterSession> writers = new ArrayList<>();
    VirtualLinks.End lastDialled;
    long nowNs;

    /** Delay that is added to late writes. */
    long networkAheadNs;

    SessionScenario() {
        listener.add(reader);
    }

    long networkNowNs() {
        return nowNs + networkAheadNs;
    }

    @AfterEach
    void closeAll() {
        writers.forEach(WriterSession::close);
        listener.close();
        reader.close();
        transport.close();
    }

    /** Adds a writer of the job whose token is derived from a secret. */
    WriterSession writer(int attempt, JobSecret by) {
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

    WriterSession add(WriterSession writer) {
        writers.add(writer);
        return writer;
    }

    ControlLink dial() {
        lastDialled = links.dial();
        return lastDialled;
    }

    /** Writes a payload that begins with a word. */
    static void write(WriterSession writer, long word) {
        byte[] payload = new byte[16];
        Memory.putLong(payload, Memory.BYTES, word);
        assertThat(writer.tryWrite(payload, Memory.BYTES, payload.length)).isTrue();
    }

    /** Returns the first word of the next payload. */
    long read() {
        assertThat(reader.poll()).isTrue();
        byte[] payload = new byte[reader.lengthBytes()];
        assertThat(reader.copyTo(payload)).isTrue();
        return Memory.getLong(payload, Memory.BYTES);
    }

    /** Delivers what is due and steps a writer. */
    void step(WriterSession writer) throws SessionException {
        transport.deliver();
        writer.step(nowNs);
    }

    /** Passes new connections to the listener and steps it. */
    void accept() {
        for (VirtualLinks.End link; (link = links.accept()) != null; ) {
            listener.accept(link, InetAddress.getLoopbackAddress(), nowNs);
        }
        listener.step(nowNs);
    }

    /** Lets time pass in turns of 2 ms: writers, listener and reader each step once a turn. */
    void run(int turns) throws SessionException {
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
