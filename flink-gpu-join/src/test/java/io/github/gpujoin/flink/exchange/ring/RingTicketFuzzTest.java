// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Receives arbitrary bytes from Flink's channel. Each input is a chunk, a ticket of one of the
 * receiver's rings, or an error with a message.
 */
class RingTicketFuzzTest {

    /** Bytes of epoch, sequence and partition of a chunk without rows. */
    private static final int FIELDS_BYTES = 20;

    private static RingReceiver receiver;

    /** Opens the ring of facts from one subtask, channel 65,536. */
    @BeforeAll
    static void open() throws IOException {
        InProcessProvider.reset(SimulatedFaults.NONE, 1);
        receiver =
                RingReceiver.open(
                        RingFixture.options("in-process"),
                        Map.of(JoinSide.PROBE, RingFixture.writers(1)),
                        RingFixture.task(new JobID(), 0, 0, new Configuration()),
                        event -> {},
                        RingFixture.UNLIMITED);
    }

    @AfterAll
    static void close() throws Exception {
        receiver.close();
    }

    static Stream<byte[]> tickets() {
        Chunk chunk = RingFixture.chunk(5, 1);
        return Stream.of(
                chunk.bytes(),
                ticket(JoinSide.PROBE, 0, chunk, 1).bytes(),
                ticket(JoinSide.BUILD, 65_535, chunk, Long.MAX_VALUE).bytes());
    }

    private static Chunk ticket(JoinSide input, int subtask, Chunk chunk, long sequence) {
        return new RingTicket.Writer(RingTicket.channel(input, subtask))
                .write(chunk, chunk.bytes(), sequence);
    }

    @MethodSource("tickets")
    @FuzzTest(maxDuration = "5m")
    void shouldReceiveOrRejectAnyBytes(byte[] bytes) {
        if (bytes == null) {
            return;
        }
        receive(() -> Chunk.wrap(RingFixture.SCHEMA, bytes.clone()));
        receive(() -> chunkWithoutRows(bytes));
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldReceiveOrRejectDamagedTickets(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 500; i++) {
            for (byte[] ticket : tickets().toList()) {
                byte[] damaged = Arrays.copyOf(ticket, random.nextInt(ticket.length + 10));
                for (int at = 0; at < damaged.length; at += 1 + random.nextInt(8)) {
                    damaged[at] ^= (byte) (1 << random.nextInt(8));
                }
                shouldReceiveOrRejectAnyBytes(damaged);
            }
        }
    }

    /** Returns a chunk with a valid checksum, as a sender could write it. */
    private static Chunk chunkWithoutRows(byte[] bytes) {
        ByteBuffer fields = ByteBuffer.wrap(Arrays.copyOf(bytes, FIELDS_BYTES));
        long epoch = fields.getLong();
        long sequence = fields.getLong();
        return new ChunkBuilder(RingFixture.SCHEMA, 1).seal(0, fields.getInt(), epoch, sequence);
    }

    /** No writer connects, so the wait for a ticket of the receiver's ring is cancelled. */
    private static void receive(Supplier<Chunk> bytes) {
        Chunk arrived;
        try {
            arrived = bytes.get();
        } catch (ChunkFormatException e) {
            assertThat(e.getMessage()).isNotBlank();
            return;
        }
        boolean isTicket = RingTicket.isTicket(arrived);
        try {
            Chunk received = receiver.received(arrived, PayloadAccess.COPY, () -> true);
            assertThat(received).isSameAs(arrived);
            assertThat(isTicket).isFalse();
        } catch (CancelTaskException e) {
            assertThat(RingTicket.channelOf(arrived))
                    .isEqualTo(RingTicket.channel(JoinSide.PROBE, 0));
        } catch (IllegalStateException | SessionException e) {
            assertThat(isTicket).isTrue();
            assertThat(e).hasMessageStartingWith("Ticket of an unknown ring: channel=");
        }
    }
}
