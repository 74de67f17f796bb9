// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.encoding.PlannedChunks;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Region;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class InPlaceRingsTest extends OpenRings {

    @Test
    void shouldReadChunksInPlaceUntilTheyAreReleased() throws Exception {
        RingReceiver receiver = receiver("shm", 0);
        RingSender sender = sender("shm", 0, 0);
        List<Chunk> received = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Chunk ticket = sender.send(RingFixture.chunk(0, i));
            received.add(receiver.received(ticket, PayloadAccess.IN_PLACE, () -> false));
        }
        assertThat(received)
                .as("half of the slots stay free for the writer")
                .extracting(chunk -> chunk.slot() != null)
                .containsExactly(true, true, false, false);
        assertThat(received.get(0).slot().isVerified()).isFalse();
        received.get(0).verify();
        assertThat(sender.occupiedSlots()).as("no credit for slots that are read").isEqualTo(4);
        received.get(1).release();
        received.get(0).release();
        await(() -> sender.occupiedSlots() == 0);
        assertThat(receiver.payloadBytesCopied()).isEqualTo(2L * received.get(2).lengthBytes());
    }

    @Test
    void shouldLeaveEncodedFactsInTheirSlots() throws Exception {
        RingReceiver receiver = receiver("shm", 0);
        RingSender sender = sender("shm", 0, 0);
        Chunk facts = RingFixture.chunk(0, 7);
        Chunk encoded = ChunkDecoder.open(facts.schema(), PlannedChunks.encode(facts));

        Chunk ticket = sender.send(encoded);
        Chunk chunk = receiver.received(ticket, PayloadAccess.IN_PLACE, () -> false);

        assertThat(chunk).isInstanceOf(EncodedChunk.class).isEqualTo(encoded);
        assertThat(chunk.slot().isVerified()).as("columns are located, so all is there").isTrue();
        assertThat(RingFixture.number(chunk)).isEqualTo(7);
        assertThat(sender.lastSentBytes()).isEqualTo(encoded.lengthBytes());
        assertThat(receiver.payloadBytesCopied()).isZero();
        chunk.release();
        await(() -> sender.occupiedSlots() == 0);
    }

    @Test
    void shouldKeepSlotsReadableAfterTheReceiverHasClosed() throws Exception {
        long openBefore = Region.openCount();
        RingReceiver receiver = receiver("shm", 0);
        RingSender sender = sender("shm", 0, 0);
        Chunk ticket = sender.send(RingFixture.chunk(0, 7));
        Chunk chunk = receiver.received(ticket, PayloadAccess.VERIFIED_IN_PLACE, () -> false);
        sender.close();
        receiver.close();
        assertThat(RingFixture.number(chunk)).isEqualTo(7);
        chunk.release();
        assertThat(Region.openCount()).isEqualTo(openBefore);
    }
}
