// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads a ring through copies, like a ring in device memory. */
class RingViewTest {

    private static final RingGeometry GEOMETRY = RingGeometry.forPayload(4, 256);
    private static final long EPOCH = 3;

    private final byte[] ring = new byte[(int) GEOMETRY.lengthBytes()];
    private final RingWriter writer = new RingWriter(ring, Memory.BYTES, GEOMETRY, EPOCH);

    /** Contains only what the last call copied. */
    private final Region window = Region.allocateZeroed(GEOMETRY.slotBytes());

    private final RingReader reader = new RingReader(this::copy, GEOMETRY, EPOCH, 0);

    @AfterEach
    void close() {
        window.close();
    }

    private long copy(long offsetBytes, int lengthBytes) {
        Memory.fill(null, window.address(), window.lengthBytes(), (byte) -1);
        Memory.copy(ring, Memory.BYTES + offsetBytes, null, window.address(), lengthBytes);
        return window.address();
    }

    static LongStream seeds() {
        return LongStream.range(0, 50);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldDeliverEveryPayloadOnceAndInOrder(long seed) {
        Random random = new Random(seed);
        Deque<byte[]> underWay = new ArrayDeque<>();
        for (int turn = 0; turn < 500; turn++) {
            byte[] payload = new byte[8 + 8 * random.nextInt(GEOMETRY.payloadCapacityBytes() / 8)];
            random.nextBytes(payload);
            if (random.nextBoolean() && write(payload)) {
                underWay.add(payload);
            }
            if (random.nextBoolean() && reader.poll() == SlotState.READY) {
                byte[] read = new byte[reader.lengthBytes()];
                assertThat(reader.copyTo(read)).isTrue();
                assertThat(read).isEqualTo(underWay.remove());
                reader.release();
                writer.acknowledge(reader.releasedSequence());
            }
        }
        assertThat(writer.writtenSequence() - reader.releasedSequence()).isEqualTo(underWay.size());
    }

    private boolean write(byte[] payload) {
        return writer.tryWrite(payload, Memory.BYTES, payload.length);
    }

    @Test
    void shouldRejectAPayloadThatChangedAfterItsHeaderWasRead() {
        byte[] payload = {1, 2, 3, 4, 5, 6, 7, 8};
        write(payload);
        long checksum = Memory.getLong(ring, Memory.BYTES + SlotDescriptor.CHECKSUM_OFFSET);
        Memory.putLong(ring, Memory.BYTES + SlotDescriptor.CHECKSUM_OFFSET, 0);
        byte[] read = new byte[8];

        assertThat(reader.peek()).isEqualTo(SlotState.READY);
        assertThat(reader.copyTo(read)).as("the checksum is in flight").isFalse();
        assertThat(reader.poll()).isEqualTo(SlotState.TORN);

        assertThat(reader.peek()).isEqualTo(SlotState.READY);
        Memory.putLong(ring, Memory.BYTES + SlotDescriptor.CHECKSUM_OFFSET, checksum);
        assertThat(reader.copyTo(read)).as("it came after the look at the header").isTrue();
        assertThat(read).isEqualTo(payload);
    }
}
