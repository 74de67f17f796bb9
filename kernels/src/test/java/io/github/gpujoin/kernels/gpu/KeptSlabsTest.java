// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.region.LimitedReservations;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Pinned memory that bulk joins leave to others: counted exactly, limited and freed. */
@ExtendWith(RegionLeakExtension.class)
class KeptSlabsTest {

    private static final int MIB = 1 << 20;
    private static final MemoryBudget BUDGET = new MemoryBudget(MIB, 8 * MIB, 4 * MIB);

    private final RefusingDriver driver = new RefusingDriver();
    private final DeviceMemory memory = new DeviceMemory(driver);
    private final RecordedPinning pinning = new RecordedPinning();

    /** Records the lengths of pages that were touched. */
    private static final class RecordedPinning implements DeviceMemory.Pinning {

        private final List<Long> touched = new ArrayList<>();
        private boolean isStopped;

        @Override
        public void touch(Region pages) {
            assertThat(isStopped).isFalse();
            touched.add(pages.lengthBytes());
        }

        @Override
        public void whileStopped(Runnable calls) {
            isStopped = true;
            calls.run();
            isStopped = false;
        }
    }

    @AfterEach
    void shouldHaveFreedAllMemory() {
        memory.freeKept();
        assertThat(driver.pinnedBytes()).isZero();
        assertThat(memory.use().pinnedBytes()).isZero();
    }

    /** Allocates slabs, frees them, and returns the address of the first. */
    private long allocate(int... mebibytes) {
        try (Buffers buffers = memory.buffers(BUDGET)) {
            long first = 0;
            for (int length : mebibytes) {
                long address = buffers.slab((long) length * MIB, pinning);
                first = first == 0 ? address : first;
            }
            return first;
        }
    }

    @Test
    void shouldUseTheMemoryOfTheJoinBefore() {
        long address = allocate(2);
        assertThat(memory.keptBytes()).isEqualTo(2 * MIB);
        assertThat(memory.use().pinnedBytes()).isZero();
        try (Buffers buffers = memory.buffers(BUDGET)) {
            assertThat(buffers.slab(2 * MIB, pinning)).isEqualTo(address);
            assertThat(memory.keptBytes()).isZero();
            assertThat(memory.use().pinnedBytes()).isEqualTo(2 * MIB);
            assertThat(driver.allocations()).isEqualTo(1);
        }
    }

    @Test
    void shouldNotUseSlabsOfMoreThanTwiceTheLength() {
        allocate(3);
        try (Buffers buffers = memory.buffers(BUDGET)) {
            buffers.slab(MIB, pinning);
            assertThat(memory.keptBytes()).isEqualTo(3 * MIB);
            buffers.slab(2 * MIB, pinning);
            assertThat(memory.keptBytes()).isZero();
            assertThat(buffers.lengthBytes()).isEqualTo(4 * MIB);
        }
    }

    @Test
    void shouldFreeTheOldestBeyondTheLimit() {
        allocate(2, 2, 3);
        assertThat(memory.keptBytes()).isEqualTo(4 * MIB);
        assertThat(driver.pinnedBytes()).isEqualTo(4 * MIB);
        allocate(5);
        assertThat(memory.keptBytes()).isZero();
        assertThat(driver.pinnedBytes()).isZero();
    }

    @Test
    void shouldCountKeptMemoryAgainstNoLimitOfOthers() {
        allocate(4);
        try (Buffers buffers = memory.buffers(BUDGET)) {
            buffers.pinned(8 * MIB);
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(() -> buffers.slab(4 * MIB, pinning))
                    .withMessageContaining("budgetBytes=8388608, usedBytes=8388608");
            assertThat(memory.keptBytes()).isEqualTo(4 * MIB);
        }
    }

    @Test
    void shouldReserveKeptMemoryForTheJoinThatUsesIt() {
        allocate(2);
        LimitedReservations owner =
                new LimitedReservations(MemoryReservations.unlimited(), 3 * MIB);
        try (Buffers buffers = memory.buffers(new MemoryLimits(BUDGET, owner))) {
            buffers.slab(2 * MIB, pinning);
            assertThat(owner.availableBytes()).isEqualTo(MIB);
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(() -> buffers.slab(2 * MIB, pinning));
        }
        assertThat(owner.availableBytes()).isEqualTo(3 * MIB);
    }

    @Test
    void shouldFreeKeptMemoryIfTheDriverHasNone() {
        allocate(4);
        driver.refuseAllocationsAfter(0);
        try (Buffers buffers = memory.buffers(BUDGET)) {
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(() -> buffers.pinned(MIB));
            assertThat(memory.keptBytes()).isZero();
            assertThat(driver.pinnedBytes()).isZero();
        }
    }

    @Test
    void shouldTouchNoPagesOnceTheDriverHasRefusedThem() {
        driver.refuseRegistrations();
        try (Buffers buffers = memory.buffers(BUDGET)) {
            buffers.slab(2 * MIB, pinning);
            buffers.slab(MIB, pinning);
            assertThat(pinning.touched).containsExactly(2L * MIB);
            assertThat(driver.pinnedBytes()).isEqualTo(3 * MIB);
        }
    }

    @Test
    void shouldRejectNegativeLimits() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemoryBudget.byMachine().withKeptBytes(-1))
                .withMessageContaining("keptBytes=-1");
    }
}
