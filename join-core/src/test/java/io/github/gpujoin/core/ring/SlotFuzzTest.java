// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads rings of arbitrary bytes: a payload is inside its slot, or there is none. */
class SlotFuzzTest {

    private static final RingGeometry GEOMETRY = new RingGeometry(2, 192);
    private static final long EPOCH = 1;

    static Stream<byte[]> seeds() {
        byte[] ring = new byte[(int) GEOMETRY.lengthBytes()];
        RingWriter writer = new RingWriter(ring, Memory.BYTES, GEOMETRY, EPOCH);
        writer.tryWrite(new byte[128], Memory.BYTES, 128);
        byte[] negative = ring.clone();
        Memory.putInt(negative, Memory.BYTES + SlotDescriptor.LENGTH_OFFSET, -8);
        byte[] huge = ring.clone();
        Memory.putInt(huge, Memory.BYTES + SlotDescriptor.LENGTH_OFFSET, Integer.MAX_VALUE - 7);
        return Stream.of(ring, negative, huge);
    }

    @MethodSource("seeds")
    @FuzzTest(maxDuration = "5m")
    void shouldStayInsideTheSlotWhateverItHolds(byte[] input) {
        if (input == null) {
            return;
        }
        byte[] ring = Arrays.copyOf(input, (int) GEOMETRY.lengthBytes());
        Memory.putLong(ring, Memory.BYTES + SlotDescriptor.SEQUENCE_OFFSET, 1);
        Memory.putLong(ring, Memory.BYTES + SlotDescriptor.EPOCH_OFFSET, EPOCH);
        RingReader reader = new RingReader(ring, Memory.BYTES, GEOMETRY, EPOCH, 0);
        if (reader.peek() == SlotState.READY) {
            assertThat(reader.lengthBytes()).isBetween(8, GEOMETRY.payloadCapacityBytes());
            boolean isWhole = reader.copyTo(new byte[reader.lengthBytes()]);
            assertThat(reader.poll()).isEqualTo(isWhole ? SlotState.READY : SlotState.TORN);
        }
    }
}
