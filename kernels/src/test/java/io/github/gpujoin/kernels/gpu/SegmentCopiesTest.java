// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Uses a driver that completes one copy for each query. */
class SegmentCopiesTest {

    private static final int SEGMENT_BYTES = 1 << 20;

    /** Four segments of {@link #SEGMENT_BYTES} are a batch. */
    private static final int SLOTS = 16;

    private final RefusingDriver driver = new RefusingDriver();
    private long pinned;
    private long device;

    @AfterEach
    void freeMemory() {
        driver.endProcess();
    }

    private SegmentCopies copies(int slots, int segmentBytes) {
        pinned = driver.allocatePinned((long) slots * segmentBytes);
        device = driver.allocateDevice((long) slots * segmentBytes);
        return new SegmentCopies(driver, pinned, device, slots, segmentBytes);
    }

    private static void write(SegmentCopies copies, int firstSlot, int count, int lengthBytes) {
        for (int i = 0; i < count; i++) {
            copies.written(firstSlot + i, lengthBytes);
        }
    }

    /** Slots and bytes of outstanding copies, in segments of {@link #SEGMENT_BYTES}. */
    private List<String> underWay() {
        List<String> copies = new ArrayList<>();
        for (RefusingDriver.Copy copy : driver.copiesUnderWay()) {
            assertThat(copy.pinnedAddress() - pinned).isEqualTo(copy.deviceAddress() - device);
            copies.add((copy.deviceAddress() - device) / SEGMENT_BYTES + ":" + copy.lengthBytes());
        }
        return copies;
    }

    /** Completes all copies. */
    private void await(SegmentCopies copies) {
        while (!copies.isQuiet()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldCopyASingleSegmentOnRequest() {
        SegmentCopies copies = copies(SLOTS, SEGMENT_BYTES);
        copies.written(0, 1000);
        copies.advance();
        assertThat(underWay()).containsExactly("0:1000");
        assertThat(copies.hasArrived(0)).isFalse();
        await(copies);
        assertThat(copies.hasArrived(0)).isTrue();
    }

    @Test
    void shouldBatchSegmentsUntilEarlierOnesAreConsumed() {
        SegmentCopies copies = copies(SLOTS, SEGMENT_BYTES);
        copies.written(0, SEGMENT_BYTES);
        copies.advance();
        write(copies, 1, 3, SEGMENT_BYTES);
        await(copies);
        copies.advance();
        assertThat(underWay()).as("slot 0 is not taken").isEmpty();
        copies.release(0);
        copies.advance();
        assertThat(underWay()).containsExactly("1:" + 3 * SEGMENT_BYTES);
    }

    @Test
    void shouldCopyAFullBatchAtOnceWithoutARequest() {
        SegmentCopies copies = copies(SLOTS, SEGMENT_BYTES);
        write(copies, 0, 9, SEGMENT_BYTES);
        assertThat(underWay())
                .containsExactly(
                        "0:" + SegmentCopies.BATCH_BYTES, "4:" + SegmentCopies.BATCH_BYTES);
    }

    @Test
    void shouldMakeBatchesOfAQuarterOfASmallRing() {
        SegmentCopies copies = copies(8, 1 << 10);
        write(copies, 0, 4, 1 << 10);
        assertThat(driver.copiesUnderWay()).hasSize(2);
    }

    @Test
    void shouldCopyAdjacentSlotsInAnyOrder() {
        SegmentCopies copies = copies(SLOTS, SEGMENT_BYTES);
        for (int slot : new int[] {15, 0, 14, 1}) {
            copies.written(slot, SEGMENT_BYTES);
        }
        assertThat(underWay()).containsExactly("0:" + 2 * SEGMENT_BYTES, "14:" + 2 * SEGMENT_BYTES);
    }

    @Test
    void shouldNotCopyUnusedBytesOfShortSegments() {
        SegmentCopies copies = copies(SLOTS, SEGMENT_BYTES);
        int nearlyFull = SEGMENT_BYTES - (int) SegmentCopies.MAX_GAP_BYTES;
        copies.written(0, nearlyFull);
        copies.written(1, nearlyFull - 1);
        copies.written(2, 100);
        copies.advance();
        assertThat(underWay()).containsExactly("0:" + (SEGMENT_BYTES + nearlyFull - 1), "2:100");
    }

    @Test
    void shouldRejectAWriteToAFreeSlot() {
        SegmentCopies copies = copies(SLOTS, SEGMENT_BYTES);
        copies.written(0, 100);
        assertThatIllegalStateException()
                .isThrownBy(() -> copies.written(0, 100))
                .withMessageContaining("state=WAITING");
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void shouldCopyEverySegmentBeforeReportingIt(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int slots = 1 + random.nextInt(40);
        int segmentBytes = 64 << random.nextInt(12);
        SegmentCopies copies = copies(slots, segmentBytes);
        long[] numberIn = new long[slots];
        long written = 0;
        long taken = 0;
        while (taken < 500) {
            int slot = random.nextInt(slots);
            if (numberIn[slot] == 0) {
                int lengthBytes = 8 + random.nextInt(segmentBytes - 8);
                numberIn[slot] = ++written;
                Memory.putLong(pinned + (long) slot * segmentBytes, written);
                copies.written(slot, lengthBytes);
            } else if (copies.hasArrived(slot)) {
                assertThat(Memory.getLong(device + (long) slot * segmentBytes))
                        .isEqualTo(numberIn[slot]);
                numberIn[slot] = 0;
                copies.release(slot);
                taken++;
            } else {
                copies.advance();
            }
        }
    }
}
