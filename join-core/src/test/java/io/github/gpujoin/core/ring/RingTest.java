// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.region.WordSum;
import io.github.gpujoin.core.ring.testing.StressPayload;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RingTest {

    private static final RingGeometry GEOMETRY = RingGeometry.forPayload(4, 256);
    private static final long EPOCH = 3;

    private final byte[] ring = new byte[(int) GEOMETRY.lengthBytes()];
    private final RingWriter writer = new RingWriter(ring, Memory.BYTES, GEOMETRY, EPOCH);
    private final RingReader reader = new RingReader(ring, Memory.BYTES, GEOMETRY, EPOCH, 0);

    static LongStream seeds() {
        return LongStream.range(0, 50);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldDeliverEveryPayloadOnceAndInOrder(long seed) {
        Random random = new Random(seed);
        RingGeometry geometry =
                RingGeometry.forPayload(1 + random.nextInt(8), 8 + random.nextInt(1000));
        try (Region region = Region.allocateZeroed(geometry.lengthBytes())) {
            RingWriter out = new RingWriter(null, region.address(), geometry, EPOCH);
            RingReader in = new RingReader(null, region.address(), geometry, EPOCH, 0);
            Deque<byte[]> inFlight = new ArrayDeque<>();
            for (int step = 0; step < 500; step++) {
                if (random.nextBoolean()) {
                    byte[] payload = payload(random, geometry.payloadCapacityBytes());
                    boolean hadCredit = out.credits() > 0;
                    assertThat(write(out, payload)).isEqualTo(hadCredit);
                    if (hadCredit) {
                        inFlight.add(payload);
                    }
                } else if (random.nextInt(3) == 0) {
                    out.acknowledge(in.releasedSequence());
                } else if (in.peek() == SlotState.READY) {
                    assertThat(read(in)).isEqualTo(inFlight.remove());
                    in.release();
                }
            }
            assertThat(out.writtenSequence() - in.releasedSequence()).isEqualTo(inFlight.size());
        }
    }

    @Test
    void shouldRejectWriteWithoutCredit() {
        for (int i = 0; i < GEOMETRY.slotCount(); i++) {
            assertThat(write(writer, new byte[8])).isTrue();
        }
        assertThat(writer.credits()).isZero();
        assertThat(write(writer, new byte[8])).isFalse();
        writer.acknowledge(1);
        assertThat(write(writer, new byte[8])).isTrue();
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldPublishTheSameSlotIfTheSumIsKnown(long seed) {
        byte[] payload = payload(new Random(seed), GEOMETRY.payloadCapacityBytes());
        byte[] other = new byte[ring.length];
        long sum = WordSum.of(payload, Memory.BYTES, payload.length / 8, 1);
        RingWriter knowing = new RingWriter(other, Memory.BYTES, GEOMETRY, EPOCH);
        assertThat(knowing.tryWrite(payload, Memory.BYTES, payload.length, sum)).isTrue();
        assertThat(write(writer, payload)).isTrue();
        assertThat(other).isEqualTo(ring);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldPublishPartsAsOnePayloadWithZerosBetween(long seed) {
        Random random = new Random(seed);
        new Random(seed + 1).nextBytes(ring); // what an earlier round left
        List<byte[]> parts = new ArrayList<>();
        byte[] joined = new byte[0];
        while (parts.isEmpty() || random.nextInt(4) > 0) {
            byte[] part = payload(random, 72);
            int start = SlotParts.align(joined.length);
            if (start + part.length > GEOMETRY.payloadCapacityBytes()) {
                break;
            }
            assertThat(SlotParts.lengthWith(joined.length, part.length))
                    .isEqualTo(start + part.length);
            joined = Arrays.copyOf(joined, start + part.length);
            System.arraycopy(part, 0, joined, start, part.length);
            parts.add(part);
        }
        assertThat(writer.tryWrite(parts)).isTrue();
        assertThat(reader.poll()).isEqualTo(SlotState.READY);
        assertThat(read(reader)).isEqualTo(joined);
    }

    @Test
    void shouldRejectPartsThatAreNotWholeWordsOrDoNotFit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> writer.tryWrite(List.of(new byte[12], new byte[8])))
                .withMessageContaining("partBytes=12");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> writer.tryWrite(List.of(new byte[8], new byte[256])))
                .withMessageContaining("lengthBytes=320, capacityBytes=256");
    }

    @Test
    void shouldRejectPartsWithoutCredit() {
        List<byte[]> parts = List.of(new byte[8], new byte[16]);
        for (int i = 0; i < GEOMETRY.slotCount(); i++) {
            assertThat(writer.tryWrite(parts)).isTrue();
        }
        assertThat(writer.tryWrite(parts)).isFalse();
    }

    @Test
    void shouldFindASlotWithAWrongSumTorn() {
        assertThat(writer.tryWrite(new byte[8], Memory.BYTES, 8, 1)).isTrue();
        assertThat(reader.poll()).isEqualTo(SlotState.TORN);
    }

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(ints = {0, 4, 12, 320})
    void shouldRejectPayloadsThatAreNotWholeWordsOrDoNotFit(int lengthBytes) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> write(writer, new byte[lengthBytes]))
                .withMessageContaining("lengthBytes=" + lengthBytes + ", capacityBytes=256");
    }

    @Test
    void shouldFindEveryFlippedBitOfASlotTornOrEmpty() {
        write(writer, payload(new Random(1), 256));
        int end = SlotDescriptor.PAYLOAD_OFFSET + writer.lengthBytes(1);
        for (int at = 8; at < end; at++) {
            if (at >= SlotDescriptor.RESERVED_OFFSET && at < SlotDescriptor.CHECKSUM_OFFSET
                    || at >= SlotDescriptor.USED_HEADER_BYTES
                            && at < SlotDescriptor.PAYLOAD_OFFSET) {
                continue; // reserved
            }
            for (int bit = 0; bit < 8; bit++) {
                ring[at] ^= (byte) (1 << bit);
                assertThat(reader.poll()).as("byte %d, bit %d", at, bit).isEqualTo(SlotState.TORN);
                ring[at] ^= (byte) (1 << bit);
            }
        }
        assertThat(reader.poll()).isEqualTo(SlotState.READY);
    }

    @Test
    void shouldRejectASlotOfAnotherEpoch() {
        write(new RingWriter(ring, Memory.BYTES, GEOMETRY, EPOCH - 1), new byte[64]);
        assertThat(reader.poll()).isEqualTo(SlotState.TORN);
    }

    @Test
    void shouldReportAWriterWithoutCredit() {
        Memory.putLong(ring, Memory.BYTES + SlotDescriptor.SEQUENCE_OFFSET, 5);
        assertThatExceptionOfType(RingException.class)
                .isThrownBy(reader::poll)
                .withMessage(
                        "Writer overwrote a slot that was not released: sequence=1, found=5,"
                                + " slotCount=4");
    }

    @Test
    void shouldRejectAcknowledgementsOfUnwrittenOrEarlierSequences() {
        write(writer, new byte[8]);
        write(writer, new byte[8]);
        writer.acknowledge(1);
        for (long sequence : new long[] {0, 3, -1}) {
            assertThatExceptionOfType(RingException.class)
                    .isThrownBy(() -> writer.acknowledge(sequence))
                    .withMessageContaining("acknowledged=1, written=2, sequence=" + sequence);
        }
    }

    @Test
    void shouldKeepUnacknowledgedSlotsReadableInTheNextEpoch() {
        Random random = new Random(2);
        byte[][] payloads = new byte[6][];
        for (int i = 0; i < 4; i++) {
            payloads[i] = payload(random, 256);
            write(writer, payloads[i]);
        }
        writer.acknowledge(2);
        for (int i = 4; i < 6; i++) {
            payloads[i] = payload(random, 256);
            write(writer, payloads[i]);
        }
        writer.moveToEpoch(EPOCH + 1);
        RingReader next = new RingReader(ring, Memory.BYTES, GEOMETRY, EPOCH + 1, 2);
        for (int i = 2; i < 6; i++) {
            assertThat(next.poll()).isEqualTo(SlotState.READY);
            assertThat(read(next)).isEqualTo(payloads[i]);
            next.release();
        }
        assertThat(next.poll()).isEqualTo(SlotState.EMPTY);
    }

    @Test
    void shouldPublishUnacknowledgedSlotsInAnotherRingDespiteDamagedLengths() {
        Random random = new Random(3);
        byte[][] payloads = new byte[4][];
        for (int i = 0; i < 4; i++) {
            payloads[i] = payload(random, 256);
            write(writer, payloads[i]);
        }
        writer.acknowledge(1);
        // A reader that shares the ring may modify it.
        long second = Memory.BYTES + GEOMETRY.slotOffset(2);
        Memory.putInt(ring, second + SlotDescriptor.LENGTH_OFFSET, Integer.MAX_VALUE);
        byte[] another = new byte[ring.length];
        writer.moveTo(another, Memory.BYTES, EPOCH + 1);
        RingReader next = new RingReader(another, Memory.BYTES, GEOMETRY, EPOCH + 1, 1);
        for (int i = 1; i < 4; i++) {
            assertThat(next.poll()).isEqualTo(SlotState.READY);
            assertThat(read(next)).isEqualTo(payloads[i]);
            next.release();
        }
        writer.acknowledge(4);
        write(writer, payloads[0]);
        assertThat(next.poll()).isEqualTo(SlotState.READY);
        assertThat(read(next)).isEqualTo(payloads[0]);
    }

    @Test
    void shouldRejectReadsBeforeASlotIsReady() {
        assertThatIllegalStateException().isThrownBy(() -> reader.copyTo(new byte[8]));
        assertThatIllegalStateException()
                .isThrownBy(reader::lengthBytes)
                .withMessage("Slot is read before peek() returned READY: releasedSequence=0");
        write(writer, new byte[16]);
        assertThat(reader.peek()).isEqualTo(SlotState.READY);
        assertThatIllegalStateException()
                .isThrownBy(reader::release)
                .withMessage(
                        "Slot is released before its payload was complete: releasedSequence=0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> reader.copyTo(new byte[8]))
                .withMessage("Array and payload differ in length: lengthBytes=16, arrayBytes=8");
    }

    @Test
    void shouldRejectAnEarlierPayloadThatArrivesLateInAReusedSlot() {
        for (long number = 1; number <= GEOMETRY.slotCount(); number++) {
            write(writer, StressPayload.of(number));
        }
        int end = (int) GEOMETRY.slotOffset(2);
        byte[] firstSlot = Arrays.copyOf(ring, end);
        assertThat(reader.poll()).isEqualTo(SlotState.READY);
        reader.release();
        writer.acknowledge(1);
        write(writer, StressPayload.of(5));
        for (int i = 1; i < GEOMETRY.slotCount(); i++) {
            assertThat(reader.poll()).isEqualTo(SlotState.READY);
            reader.release();
        }
        assertThat(reader.poll()).as("whole when it is looked at").isEqualTo(SlotState.READY);
        byte[] secondRound = Arrays.copyOf(ring, end);
        // The write of the first round, sent twice: all of the slot except its sequence.
        System.arraycopy(firstSlot, 8, ring, 8, end - 8);
        byte[] payload = new byte[reader.lengthBytes()];
        assertThat(reader.copyTo(payload)).as("late payload").isFalse();
        assertThatIllegalStateException().isThrownBy(reader::release);
        assertThat(reader.poll()).isEqualTo(SlotState.TORN);
        System.arraycopy(secondRound, 8, ring, 8, end - 8);
        assertThat(reader.peek()).isEqualTo(SlotState.READY);
        assertThat(read(reader)).isEqualTo(StressPayload.of(5));
        reader.release();
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldKeepTakenPayloadsUntilTheyAreReleasedInAnyOrder(long seed) {
        Random random = new Random(seed);
        RingGeometry geometry =
                RingGeometry.forPayload(1 + random.nextInt(8), 8 + random.nextInt(1000));
        try (Region region = Region.allocateZeroed(geometry.lengthBytes())) {
            RingWriter out = new RingWriter(null, region.address(), geometry, EPOCH);
            RingReader in = new RingReader(null, region.address(), geometry, EPOCH, 0);
            Deque<byte[]> inFlight = new ArrayDeque<>();
            List<TakenPayload> held = new ArrayList<>();
            List<byte[]> expected = new ArrayList<>();
            for (int step = 0; step < 500; step++) {
                int action = random.nextInt(4);
                if (action == 0) {
                    byte[] payload = payload(random, geometry.payloadCapacityBytes());
                    if (write(out, payload)) {
                        inFlight.add(payload);
                    }
                } else if (action == 1) {
                    out.acknowledge(in.releasedSequence());
                } else if (action == 2 && in.poll() == SlotState.READY) {
                    held.add(in.take());
                    expected.add(inFlight.remove());
                } else if (action == 3 && !held.isEmpty()) {
                    int index = random.nextInt(held.size());
                    TakenPayload taken = held.remove(index);
                    byte[] payload = expected.remove(index);
                    assertThat(taken.isIntact()).isTrue();
                    assertThat(taken.lengthBytes()).isEqualTo(payload.length);
                    assertThat(
                                    Memory.equal(
                                            null,
                                            taken.address(),
                                            payload,
                                            Memory.BYTES,
                                            payload.length))
                            .isTrue();
                    taken.release();
                }
            }
        }
    }

    @Test
    void shouldContinueBehindTakenSlotsInTheRingOfALaterConnection() {
        for (int i = 0; i < 3; i++) {
            write(writer, new byte[] {(byte) i, 0, 0, 0, 0, 0, 0, 0});
        }
        reader.peek();
        TakenPayload first = reader.take();
        reader.peek();
        TakenPayload second = reader.take();
        second.release();
        assertThat(reader.releasedSequence()).as("credit").isZero();
        try (Region another = Region.allocateZeroed(GEOMETRY.lengthBytes())) {
            writer.moveTo(null, another.address(), EPOCH + 1);
            RingView view = RingView.inPlace(another.address());
            RingReader next = new RingReader(view, GEOMETRY, EPOCH + 1, reader.window());
            assertThat(next.poll()).isEqualTo(SlotState.READY);
            assertThat(read(next)).startsWith(2);
            next.release();
            assertThat(first.isIntact()).isTrue();
            assertThat(next.releasedSequence()).isZero();
            first.release();
            assertThat(next.releasedSequence()).isEqualTo(3);
            writer.acknowledge(3);
        }
    }

    @Test
    void shouldDetectATakenPayloadThatALateWriteChanged() {
        write(writer, payload(new Random(4), 256));
        reader.poll();
        TakenPayload taken = reader.take();
        ring[(int) (taken.address() - Memory.BYTES)] ^= 1;
        assertThat(taken.isIntact()).isFalse();
        taken.release();
        assertThatIllegalStateException().isThrownBy(taken::release);
    }

    @Test
    void shouldFindNoPayloadWhileAllSlotsAreTaken() {
        for (int i = 0; i < GEOMETRY.slotCount(); i++) {
            write(writer, new byte[8]);
            reader.peek();
            reader.take();
        }
        assertThat(reader.peek()).isEqualTo(SlotState.EMPTY);
    }

    @Test
    void shouldRejectGeometriesOutOfBounds() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RingGeometry(0, 128))
                .withMessage("Number of slots is out of range (1 to 65536): slotCount=0");
        assertThatIllegalArgumentException().isThrownBy(() -> new RingGeometry(1, 64));
        assertThatIllegalArgumentException().isThrownBy(() -> new RingGeometry(1, 130));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RingGeometry(1024, (1 << 20) + 64))
                .withMessage("Ring exceeds 1 GiB: slotCount=1024, slotBytes=1048640");
    }

    private static boolean write(RingWriter writer, byte[] payload) {
        return writer.tryWrite(payload, Memory.BYTES, payload.length);
    }

    private static byte[] read(RingReader reader) {
        byte[] payload = new byte[reader.lengthBytes()];
        assertThat(reader.copyTo(payload)).isTrue();
        return payload;
    }

    private static byte[] payload(Random random, int capacityBytes) {
        byte[] payload = new byte[8 * (1 + random.nextInt(capacityBytes / 8))];
        random.nextBytes(payload);
        return payload;
    }
}
