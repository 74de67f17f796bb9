package io.github.gpujoin.flink.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.JobID;
import org.junit.jupiter.api.Test;

class HandoverTest {

    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("number", ColumnType.INT64));

    private final Handover.Edge edge = new Handover.Edge(new JobID(), 7, 0);

    private static Chunk chunk(long number) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 8);
        builder.putLong(0, number);
        builder.endRow();
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, number);
    }

    private HandoverSender sender() {
        return new HandoverSender(edge, SCHEMA);
    }

    @Test
    void shouldSendThroughTheChannelWhereNoReceiverIsOpen() {
        Chunk chunk = chunk(1);
        assertThat(sender().send(chunk)).isSameAs(chunk);
    }

    @Test
    void shouldHandTheVeryChunkOver() {
        try (Handover receiver = Handover.open(edge)) {
            Chunk chunk = chunk(1);
            Chunk ticket = sender().send(chunk);
            assertThat(ticket.rowCount()).isZero();
            assertThat(ticket.lengthBytes()).isEqualTo(ChunkDescriptor.HEADER_BYTES);
            assertThat(receiver.received(ticket)).isSameAs(chunk);
        }
    }

    @Test
    void shouldKeepTheOrderWhereChunksWithoutRoomGoThroughTheChannel() {
        try (Handover receiver = Handover.open(edge)) {
            HandoverSender sender = sender();
            List<Chunk> sent = new ArrayList<>();
            List<Chunk> channel = new ArrayList<>();
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 6; i++) {
                    sent.add(chunk(sent.size()));
                    channel.add(sender.send(sent.get(sent.size() - 1)));
                }
                // The queue is full, so at least one chunk is in the channel itself.
                assertThat(channel).anyMatch(chunk -> chunk.rowCount() == 1);
                List<Chunk> received = channel.stream().map(receiver::received).toList();
                assertThat(received).containsExactlyElementsOf(sent);
                sent.clear();
                channel.clear();
            }
        }
    }

    @Test
    void shouldSendThroughTheChannelOnceTheReceiverHasClosed() {
        HandoverSender sender = sender();
        Handover receiver = Handover.open(edge);
        sender.send(chunk(1));
        receiver.close();
        receiver.close();
        Chunk chunk = chunk(2);
        assertThat(sender.send(chunk)).isSameAs(chunk);
        assertThat(sender().send(chunk)).isSameAs(chunk);
    }

    @Test
    void shouldRefuseATicketForAnEarlierReceiver() {
        Chunk ticket;
        try (Handover earlier = Handover.open(edge)) {
            ticket = sender().send(chunk(1));
        }
        try (Handover receiver = Handover.open(edge)) {
            assertThatThrownBy(() -> receiver.received(ticket))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("a ticket is for the next chunk of this receiver")
                    .hasMessageContaining("ticketEpoch=" + ticket.epoch());
        }
    }

    @Test
    void shouldRefuseATicketTwice() {
        try (Handover receiver = Handover.open(edge)) {
            HandoverSender sender = sender();
            Chunk ticket = sender.send(chunk(1));
            sender.send(chunk(2));
            receiver.received(ticket);
            assertThatThrownBy(() -> receiver.received(ticket))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("next=1, ticket=0");
        }
    }

    @Test
    void shouldLeaveAnotherReceiverOfTheEdgeOpenWhenAnEarlierOneCloses() {
        Handover earlier = Handover.open(edge);
        try (Handover receiver = Handover.open(edge)) {
            earlier.close();
            Chunk chunk = chunk(1);
            assertThat(receiver.received(sender().send(chunk))).isSameAs(chunk);
        }
    }
}
