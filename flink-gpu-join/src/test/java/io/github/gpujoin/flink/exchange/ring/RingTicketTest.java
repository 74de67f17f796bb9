// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RingTicketTest {

    private static final int MAX_SUBTASKS = 1 << 15;

    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldLocateItsChunk(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 1000; i++) {
            JoinSide input = JoinSide.values()[random.nextInt(2)];
            int channel = RingTicket.channel(input, random.nextInt(MAX_SUBTASKS));
            long sequence = 1 + random.nextLong(Long.MAX_VALUE);
            Chunk chunk = RingFixture.chunk(random.nextInt(128), i);
            Chunk ticket = new RingTicket.Writer(channel).write(chunk, chunk.bytes(), sequence);
            ticket = Chunk.wrap(ticket.schema(), ticket.bytes().clone());

            assertThat(RingTicket.isTicket(ticket)).isTrue();
            assertThat(RingTicket.channelOf(ticket)).isEqualTo(channel);
            assertThat(RingTicket.isOf(ticket, chunk, checksum(chunk))).isTrue();
            Chunk other = RingFixture.chunk(chunk.partition(), i + 1);
            assertThat(RingTicket.isOf(ticket, other, checksum(other))).isFalse();
            assertThat(ticket.sequence()).isEqualTo(sequence);
            assertThat(ticket.partition()).isEqualTo(chunk.partition());
            assertThat(ticket.dimension()).isEqualTo(chunk.dimension());
            assertThat(ticket.lengthBytes()).isEqualTo(ChunkDescriptor.HEADER_BYTES);
        }
    }

    private static long checksum(Chunk chunk) {
        return Memory.getLong(chunk.bytes(), Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
    }

    @Test
    void shouldDistinguishTicketsFromChunks() {
        assertThat(RingTicket.isTicket(RingFixture.chunk(0, 1))).isFalse();
        Chunk first =
                new RingTicket.Writer(0)
                        .write(RingFixture.chunk(0, 1), RingFixture.chunk(0, 1).bytes(), 1);
        assertThat(RingTicket.isTicket(first)).as("first ticket").isTrue();
    }

    @Test
    void shouldAssignADistinctChannelToEachRing() {
        Set<Integer> channels = new HashSet<>();
        for (JoinSide input : JoinSide.values()) {
            for (int subtask = 0; subtask < MAX_SUBTASKS; subtask++) {
                int channel = RingTicket.channel(input, subtask);
                assertThat(channel).isNotNegative();
                assertThat(channels.add(channel)).isTrue();
            }
        }
    }
}
