// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.rdma.transport.shm.ShmTransport;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Two channels in one thread; another process of the user truncates the file of one ring. */
@EnabledOnOs(OS.LINUX)
@ExtendWith(RegionLeakExtension.class)
class TruncatedRingTest {

    private static final UUID JOB = new UUID(1, 2);

    /** Enough payloads for the JIT compiler to compile reading and writing of rings. */
    private static final int WARM_UP_PAYLOADS = 30_000;

    private final JobSecret secret = JobSecret.random();
    private final VirtualLinks links = new VirtualLinks(new Random(1), 1000);
    private final SessionListener listener =
            new SessionListener(
                    JOB, secret, SessionOptions.DEFAULT, SessionListener.Limits.DEFAULT);
    private final byte[] payload = new byte[4096];
    @TempDir private Path directory;
    private ShmTransport transport;
    private List<ReaderSession> readers;
    private List<WriterSession> writers;
    private long nowNs;

    @BeforeEach
    void open() throws Exception {
        transport = new ShmTransport(directory);
        readers = Stream.of(0, 1).map(this::reader).toList();
        writers = Stream.of(0, 1).map(this::writer).toList();
        while (!writers.stream().allMatch(WriterSession::isConnected)) {
            step(0);
            step(1);
        }
        for (int i = 0; i < WARM_UP_PAYLOADS; i++) {
            assertThat(isDelivered(i % 2)).isTrue();
        }
    }

    @AfterEach
    void closeAll() {
        writers.forEach(WriterSession::close);
        listener.close();
        readers.forEach(ReaderSession::close);
        transport.close();
    }

    @Test
    void shouldFailOnlyTheReaderOfATruncatedRing() throws Exception {
        truncateRingOf(0);
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(
                        () -> {
                            while (true) {
                                readers.get(0).poll();
                                readers.get(0).step(nowNs);
                            }
                        })
                .withMessageContaining("channel=0")
                .withMessageContaining("The ring's file was truncated: path=");
        assertThat(isDelivered(1)).isTrue();
    }

    @Test
    void shouldFailOnlyTheWriterOfATruncatedRing() throws Exception {
        truncateRingOf(0);
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(
                        () -> {
                            while (true) {
                                writers.get(0).tryWrite(payload, Memory.BYTES, payload.length);
                                writers.get(0).step(nowNs);
                            }
                        })
                .withMessageContaining("channel=0")
                .withMessageContaining("The ring's file was truncated: path=");
        assertThat(isDelivered(1)).isTrue();
    }

    /** Mapped rings have no name, but their creators hold them open. */
    private void truncateRingOf(int channel) throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            Path ring =
                    open.filter(this::isRing)
                            .sorted(TruncatedRingTest::byNumber)
                            .toList()
                            .get(channel);
            FileChannel.open(ring, StandardOpenOption.WRITE).truncate(0).close();
        }
    }

    private static int byNumber(Path one, Path other) {
        return Integer.compare(
                Integer.parseInt(one.getFileName().toString()),
                Integer.parseInt(other.getFileName().toString()));
    }

    private boolean isRing(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).startsWith(directory.toRealPath());
        } catch (IOException e) {
            return false; // closed in the meantime
        }
    }

    private boolean isDelivered(int channel) throws Exception {
        ReaderSession reader = readers.get(channel);
        if (!writers.get(channel).tryWrite(payload, Memory.BYTES, payload.length)) {
            return false;
        }
        step(channel);
        boolean delivered = reader.poll() && reader.copyTo(new byte[reader.lengthBytes()]);
        reader.release();
        step(channel);
        step(channel);
        return delivered;
    }

    private void step(int channel) throws Exception {
        nowNs += 10_000;
        links.advanceTo(nowNs);
        writers.get(channel).step(nowNs);
        for (VirtualLinks.End link; (link = links.accept()) != null; ) {
            listener.accept(link, InetAddress.getLoopbackAddress(), nowNs);
        }
        listener.step(nowNs);
        readers.get(channel).step(nowNs);
    }

    private ReaderSession reader(int channel) {
        RingGeometry ring = RingGeometry.forPayload(4, payload.length);
        ReaderSession reader =
                new ReaderSession(channel, ring, transport, SessionOptions.DEFAULT, nowNs);
        listener.add(reader);
        return reader;
    }

    private WriterSession writer(int channel) {
        return new WriterSession(
                JOB,
                0,
                channel,
                secret.token(JOB, 0),
                links::dial,
                transport,
                SessionOptions.DEFAULT,
                nowNs);
    }
}
