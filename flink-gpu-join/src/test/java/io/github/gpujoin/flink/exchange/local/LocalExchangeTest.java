// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.slot.SlotPool;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.ExecutionGraphID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.jobgraph.IntermediateResultPartitionID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;
import org.junit.jupiter.api.Test;

class LocalExchangeTest {

    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("number", ColumnType.INT64));

    private final ExecutionGraphID graph = new ExecutionGraphID();
    private final IntermediateResultPartitionID output =
            new IntermediateResultPartitionID(new IntermediateDataSetID(), 3);
    private final ExecutionVertexID packer = new ExecutionVertexID(new JobVertexID(), 3);
    private final OneToOneEdge edge = ofAttempt(0);
    private final TimerGauge backPressured = new TimerGauge();

    private OneToOneEdge ofAttempt(int attempt) {
        ExecutionAttemptID sender = new ExecutionAttemptID(graph, packer, attempt);
        return new OneToOneEdge(new ResultPartitionID(output, sender), 0);
    }

    private static Chunk chunk(long number) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 8);
        builder.putLong(0, number);
        builder.endRow();
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, number);
    }

    private LocalExchangeSender sender() {
        return new LocalExchangeSender(edge, SCHEMA, backPressured);
    }

    @Test
    void shouldSendThroughTheChannelWhileNoReceiverIsOpen() {
        Chunk chunk = chunk(1);
        assertThat(sender().send(chunk)).isSameAs(chunk);
    }

    @Test
    void shouldReceiveTheSentChunkByReference() {
        try (LocalExchange receiver = LocalExchange.open(edge, null)) {
            Chunk chunk = chunk(1);
            Chunk ticket = sender().send(chunk);
            assertThat(ticket.rowCount()).isZero();
            assertThat(ticket.lengthBytes()).isEqualTo(ChunkDescriptor.HEADER_BYTES);
            assertThat(receiver.received(ticket)).isSameAs(chunk);
        }
    }

    @Test
    void shouldReceiveAChunkAfterItsChecksumIsComputed() {
        try (LocalExchange receiver = LocalExchange.open(edge, null)) {
            Chunk chunk = chunk(1);
            Chunk ticket = sender().send(chunk);
            chunk.bytes();
            assertThat(receiver.received(ticket)).isSameAs(chunk);
        }
    }

    @Test
    void shouldKeepTheOrderIfChunksWithoutRoomGoThroughTheChannel() {
        try (LocalExchange receiver = LocalExchange.open(edge, null)) {
            LocalExchangeSender sender = sender();
            List<Chunk> sent = new ArrayList<>();
            List<Chunk> channel = new ArrayList<>();
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 6; i++) {
                    sent.add(chunk(sent.size()));
                    channel.add(sender.send(sent.get(sent.size() - 1)));
                }
                // The queue is full, so at least one chunk goes through the channel.
                assertThat(channel).anyMatch(chunk -> chunk.rowCount() == 1);
                List<Chunk> received = channel.stream().map(receiver::received).toList();
                assertThat(received).containsExactlyElementsOf(sent);
                sent.clear();
                channel.clear();
            }
        }
    }

    @Test
    void shouldCountOnlyWaitsForRoomAsBackPressure() {
        try (LocalExchange receiver = LocalExchange.open(edge, null)) {
            LocalExchangeSender sender = sender();
            for (int i = 0; i < 4; i++) {
                sender.send(chunk(i));
            }
            assertThat(backPressured.getAccumulatedCount()).isZero();
            sender.send(chunk(4));
            assertThat(backPressured.getAccumulatedCount()).isGreaterThanOrEqualTo(9);
            assertThat(backPressured.isMeasuring()).isFalse();
        }
    }

    @Test
    void shouldSendThroughTheChannelOnceTheReceiverHasClosed() {
        LocalExchangeSender sender = sender();
        LocalExchange receiver = LocalExchange.open(edge, null);
        sender.send(chunk(1));
        receiver.close();
        receiver.close();
        Chunk chunk = chunk(2);
        assertThat(sender.send(chunk)).isSameAs(chunk);
        assertThat(sender().send(chunk)).isSameAs(chunk);
    }

    @Test
    void shouldSealChunksInSlotsOfTheReceiver() {
        long openBefore = Region.openCount();
        SlotPool slots = new SlotPool(Allocator.unlimited(), 2, 256);
        LocalExchangeSender sender = sender();
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 8, sender);
        assertThat(sealed(builder, 1).slot()).as("no receiver is open").isNull();
        try (LocalExchange receiver = LocalExchange.open(edge, slots)) {
            Chunk chunk = sealed(builder, 2);
            assertThat(chunk.slot()).isNotNull();
            Chunk received = receiver.received(sender.send(chunk));
            assertThat(received).isSameAs(chunk);
            Chunk second = sealed(builder, 3);
            assertThat(sealed(builder, 4).slot()).as("both slots are used").isNull();
            received.release();
            second.release();
            assertThat(slots.freeCount()).isEqualTo(2);
        }
        assertThat(Region.openCount()).isEqualTo(openBefore);
    }

    @Test
    void shouldSendACopyThroughTheChannelIfTheQueueIsFull() {
        SlotPool slots = new SlotPool(Allocator.unlimited(), 8, 256);
        try (LocalExchange receiver = LocalExchange.open(edge, slots)) {
            LocalExchangeSender sender = sender();
            ChunkBuilder builder = new ChunkBuilder(SCHEMA, 8, sender);
            List<Chunk> channel = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                channel.add(sender.send(sealed(builder, i)));
            }
            assertThat(slots.freeCount()).isEqualTo(8 - 4);
            for (int i = 0; i < 6; i++) {
                Chunk received = receiver.received(channel.get(i));
                assertThat(received.getLong(0, 0)).isEqualTo(i);
                assertThat(received.slot() == null).isEqualTo(i >= 4);
                received.release();
            }
            assertThat(slots.freeCount()).isEqualTo(8);
        }
    }

    @Test
    void shouldFreeSlotsOfUnreadChunksWhenTheReceiverCloses() {
        long openBefore = Region.openCount();
        SlotPool slots = new SlotPool(Allocator.unlimited(), 4, 256);
        LocalExchange receiver = LocalExchange.open(edge, slots);
        LocalExchangeSender sender = sender();
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 8, sender);
        sender.send(sealed(builder, 1));
        Chunk unsent = sealed(builder, 2);
        receiver.close();
        assertThat(sealed(builder, 3).slot()).as("the receiver has closed").isNull();
        Chunk inChannel = sender.send(unsent);
        assertThat(inChannel.slot()).isNull();
        assertThat(inChannel.getLong(0, 0)).isEqualTo(2);
        assertThat(Region.openCount()).isEqualTo(openBefore);
    }

    private static Chunk sealed(ChunkBuilder builder, long number) {
        builder.putLong(0, number);
        builder.endRow();
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, number);
    }

    @Test
    void shouldNotFindTheReceiverOfALaterAttempt() {
        try (LocalExchange later = LocalExchange.open(ofAttempt(1), null)) {
            Chunk ofEarlierAttempt = chunk(1);
            assertThat(sender().send(ofEarlierAttempt)).isSameAs(ofEarlierAttempt);

            Chunk chunk = chunk(2);
            Chunk ticket = new LocalExchangeSender(ofAttempt(1), SCHEMA, backPressured).send(chunk);
            assertThat(later.received(ticket)).isSameAs(chunk);
        }
    }

    @Test
    void shouldRejectATicketOfAnEarlierAttempt() {
        Chunk ticket;
        try (LocalExchange earlier = LocalExchange.open(edge, null)) {
            ticket = sender().send(chunk(1));
        }
        try (LocalExchange later = LocalExchange.open(ofAttempt(1), null)) {
            new LocalExchangeSender(ofAttempt(1), SCHEMA, backPressured).send(chunk(1));
            assertThatThrownBy(() -> later.received(ticket))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Local exchange ticket does not match its chunk")
                    .hasMessageContaining("ticket=[attempt=0, number=0");
        }
    }

    @Test
    void shouldRejectATicketTwice() {
        try (LocalExchange receiver = LocalExchange.open(edge, null)) {
            LocalExchangeSender sender = sender();
            Chunk ticket = sender.send(chunk(1));
            sender.send(chunk(2));
            receiver.received(ticket);
            assertThatThrownBy(() -> receiver.received(ticket))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("number=0")
                    .hasMessageContaining("nextTicket=1");
        }
    }

    @Test
    void shouldRejectATicketForAnotherChunk() {
        try (LocalExchange receiver = LocalExchange.open(edge, null)) {
            sender().send(chunk(1));
            Chunk ticket = new LocalExchangeTicket.Writer(edge, SCHEMA).write(chunk(2));
            assertThatThrownBy(() -> receiver.received(ticket))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Local exchange ticket does not match its chunk");
        }
    }

    @Test
    void shouldRejectATicketWithoutAnyChunk() {
        Chunk ticket = new LocalExchangeTicket.Writer(edge, SCHEMA).write(chunk(1));
        try (LocalExchange receiver = LocalExchange.open(edge, null)) {
            assertThatThrownBy(() -> receiver.received(ticket))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("chunk=null");
        }
        assertThatThrownBy(() -> LocalExchange.receivedWithout(ticket))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Ticket on an edge without local exchange");
    }

    @Test
    void shouldNotFindTheReceiverOfAnotherSubpartition() {
        try (LocalExchange other = LocalExchange.open(new OneToOneEdge(edge.partition(), 1), null);
                LocalExchange receiver = LocalExchange.open(edge, null)) {
            Chunk chunk = chunk(1);
            Chunk ticket = sender().send(chunk);
            assertThat(receiver.received(ticket)).isSameAs(chunk);
        }
    }

    @Test
    void shouldRejectASecondReceiverOfASubpartition() {
        try (LocalExchange receiver = LocalExchange.open(edge, null)) {
            assertThatThrownBy(() -> LocalExchange.open(edge, null))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Two tasks read one subpartition");
            Chunk chunk = chunk(1);
            assertThat(receiver.received(sender().send(chunk))).isSameAs(chunk);
        }
    }
}
