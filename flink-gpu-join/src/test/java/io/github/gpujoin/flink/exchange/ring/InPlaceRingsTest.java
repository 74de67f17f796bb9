// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.encoding.PlannedChunks;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.session.SessionException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class InPlaceRingsTest extends OpenRings {

    @Test
    void shouldReadChunksInPlaceUntilTheyAreReleased() throws Exception {
        RingReceiver receiver = receiver("shm", 0);
        RingSender sender = sender("shm", 0, 0);
        List<Chunk> received = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            assertThat(receiver.hasRoom()).isEqualTo(i < 2);
            Chunk ticket = send(sender, RingFixture.chunk(0, i));
            received.add(receiver.received(ticket, PayloadAccess.IN_PLACE, () -> false));
        }
        assertThat(received)
                .as("half of the slots stay free for the writer")
                .extracting(chunk -> chunk.slot() != null)
                .containsExactly(true, true, false, false);
        assertThat(received.get(0).slot().isVerified()).isFalse();
        received.get(0).verify();
        assertThat(sender.occupiedSlots()).as("no credit for slots that are read").isEqualTo(4);
        assertThat(receiver.heldSlots()).as("also those copied behind them").isEqualTo(4);
        received.get(1).release();
        assertThat(receiver.heldSlots()).as("credit is returned in order").isEqualTo(4);
        received.get(0).release();
        assertThat(receiver.heldSlots()).isZero();
        assertThat(receiver.hasRoom()).isTrue();
        await(() -> sender.occupiedSlots() == 0);
        assertThat(receiver.payloadBytesCopied()).isEqualTo(2L * received.get(2).lengthBytes());
    }

    @Test
    void shouldLeaveEncodedFactsInTheirSlots() throws Exception {
        RingReceiver receiver = receiver("shm", 0);
        RingSender sender = sender("shm", 0, 0);
        Chunk facts = RingFixture.chunk(0, 7);
        Chunk encoded = ChunkDecoder.open(facts.schema(), PlannedChunks.encode(facts));

        Chunk ticket = send(sender, encoded);
        Chunk chunk = receiver.received(ticket, PayloadAccess.IN_PLACE, () -> false);

        assertThat(chunk).isInstanceOf(EncodedChunk.class).isEqualTo(encoded);
        assertThat(chunk.slot().isVerified()).as("columns are located, so all is there").isTrue();
        assertThat(RingFixture.number(chunk)).isEqualTo(7);
        assertThat(slotBytes).isEqualTo(encoded.lengthBytes());
        assertThat(receiver.payloadBytesCopied()).isZero();
        chunk.release();
        await(() -> sender.occupiedSlots() == 0);
    }

    @Test
    void shouldKeepSlotsReadableAfterTheReceiverHasClosed() throws Exception {
        long openBefore = Region.openCount();
        RingReceiver receiver = receiver("shm", 0);
        RingSender sender = sender("shm", 0, 0);
        Chunk ticket = send(sender, RingFixture.chunk(0, 7));
        Chunk chunk = receiver.received(ticket, PayloadAccess.VERIFIED_IN_PLACE, () -> false);
        sender.close();
        receiver.close();
        assertThat(RingFixture.number(chunk)).isEqualTo(7);
        chunk.release();
        assertThat(Region.openCount()).isEqualTo(openBefore);
    }

    /** A snapshot with a copy might be complete before the release detects the write. */
    @Test
    void shouldNotCopyASlotThatANetworkHasOverwritten() throws Exception {
        RingReceiver receiver = receiver("in-process", 0);
        RingSender sender = sender("in-process", 0, 0);
        Chunk ticket = send(sender, RingFixture.chunk(0, 7));
        Chunk chunk = receiver.received(ticket, PayloadAccess.VERIFIED_IN_PLACE, () -> false);
        assertThat(chunk.slot()).isNotNull();
        assertThat(RingFixture.number(chunk.onHeap())).isEqualTo(7);
        Memory.putLong(chunk.columnStart(0), 8);
        assertThatIllegalStateException()
                .isThrownBy(chunk::bytes)
                .withMessageContaining("Slot was overwritten while it was read: channel=");
        Memory.putLong(chunk.columnStart(0), 7);
        chunk.release();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldFailTheSessionIfTheFileOfASlotIsTruncated() throws Exception {
        RingReceiver receiver = receiver("shm", 0);
        RingSender sender = sender("shm", 0, 0);
        Chunk ticket = send(sender, RingFixture.chunk(0, 7));
        Chunk chunk = receiver.received(ticket, PayloadAccess.VERIFIED_IN_PLACE, () -> false);
        truncateRings();
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(
                        () ->
                                SlotFaults.orFail(
                                        () -> {
                                            while (true) {
                                                RingFixture.number(chunk);
                                            }
                                        }))
                .withMessageContaining("The ring's file was truncated");
        chunk.release();
    }

    /** Mapped rings have no name, but their creators hold them open. */
    private static void truncateRings() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : open.filter(InPlaceRingsTest::isRing).toList()) {
                FileChannel.open(descriptor, StandardOpenOption.WRITE).truncate(0).close();
            }
        }
    }

    private static boolean isRing(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("gpu-join-ring-");
        } catch (IOException e) {
            return false; // closed in the meantime
        }
    }
}
