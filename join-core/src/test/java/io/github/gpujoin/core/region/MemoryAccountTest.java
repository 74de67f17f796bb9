// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class MemoryAccountTest {

    private final MemoryAccount account = new MemoryAccount("test");

    @Test
    void shouldRejectAllocationsBeyondTheLimit() {
        Allocator small = account.within(100);
        Allocator large = account.within(1_000);
        try (Region first = small.allocate(60)) {
            assertThatExceptionOfType(MemoryRefusedException.class)
                    .isThrownBy(() -> small.allocate(41))
                    .withMessageContaining("test memory budget")
                    .withMessageContaining("budgetBytes=100, usedBytes=60, lengthBytes=41");
            try (Region second = large.allocate(500)) {
                assertThat(account.usedBytes())
                        .isEqualTo(first.lengthBytes() + second.lengthBytes());
                assertThat(small.availableBytes()).isZero();
                assertThat(large.availableBytes()).isEqualTo(440);
            }
        }
        assertThat(account.usedBytes()).isZero();
        assertThat(account.peakBytes()).isEqualTo(560);
    }

    @Test
    void shouldCountARegionOnceIfClosedTwice() {
        Region region = account.within(100).allocate(10);
        region.close();
        region.close();
        assertThat(account.usedBytes()).isZero();
    }

    @Test
    void shouldRejectMoreMemoryThanTheMachineHas() {
        assertThatExceptionOfType(MemoryRefusedException.class)
                .isThrownBy(() -> account.within(Long.MAX_VALUE).allocate(1L << 62))
                .withCauseInstanceOf(OutOfMemoryError.class);
        assertThat(account.usedBytes()).isZero();
    }

    @Test
    void shouldRejectANegativeLimit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> account.within(-1))
                .withMessage("Memory limit is negative: limitBytes=-1");
    }

    /** Grants a number of bytes. */
    private static final class Granted implements MemoryReservations {
        private long leftBytes;

        Granted(long bytes) {
            leftBytes = bytes;
        }

        @Override
        public void reserve(long lengthBytes) {
            if (lengthBytes > leftBytes) {
                throw new MemoryRefusedException("Nothing left.", null);
            }
            leftBytes -= lengthBytes;
        }

        @Override
        public void release(long lengthBytes) {
            leftBytes += lengthBytes;
        }

        @Override
        public long availableBytes() {
            return leftBytes;
        }
    }

    @Test
    void shouldReserveMemoryWithItsAlignmentBeforeItIsAllocated() {
        Granted granted = new Granted(100 + Region.ALIGNMENT_BYTES);
        Allocator allocator = account.within(granted);
        try (Region region = allocator.allocate(100)) {
            assertThat(allocator.availableBytes()).isZero();
            assertThat(account.usedBytes()).isEqualTo(region.lengthBytes());
            assertThatExceptionOfType(MemoryRefusedException.class)
                    .isThrownBy(() -> allocator.allocate(1))
                    .withMessage("Nothing left.");
        }
        assertThat(granted.leftBytes).isEqualTo(100 + Region.ALIGNMENT_BYTES);
        assertThat(account.usedBytes()).isZero();
    }

    @Test
    void shouldReleaseAReservationIfTheMachineHasNoMemory() {
        Granted granted = new Granted(Long.MAX_VALUE);
        assertThatExceptionOfType(MemoryRefusedException.class)
                .isThrownBy(() -> account.within(granted).allocate(1L << 62))
                .withCauseInstanceOf(OutOfMemoryError.class);
        assertThat(granted.leftBytes).isEqualTo(Long.MAX_VALUE);
    }
}
