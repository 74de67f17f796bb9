// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A ring in device memory; here host memory stands for it. */
@ExtendWith(RegionLeakExtension.class)
class GpuRingTest {

    private static final int RING_BYTES = 1000;
    private static final int SLOT_BYTES = 200;

    private final RefusingDriver driver = new RefusingDriver();
    private final GpuOptions options =
            GpuOptions.defaults().withStallTimeoutNs(TimeUnit.MILLISECONDS.toNanos(20));
    private DeviceLease lease;
    private GpuRings rings;

    @BeforeEach
    void open() {
        lease = new DeviceLease(driver, options);
        rings = new GpuRings(lease, options);
    }

    @AfterEach
    void shouldCloseTwice() {
        rings.close();
        rings.close();
        driver.endProcess();
    }

    @Test
    void shouldStartEmptyOnPagesOfItsOwn() {
        long freeBytes = driver.deviceBytes();
        try (DeviceRing ring = rings.allocate(RING_BYTES, SLOT_BYTES)) {
            assertThat(ring.address() % GpuRing.PAGE_BYTES).isZero();
            assertThat(ring.lengthBytes()).isEqualTo(RING_BYTES);
            for (int i = 0; i < RING_BYTES; i++) {
                assertThat(Memory.getByte(null, ring.address() + i)).as("byte %d", i).isZero();
            }
        }
        assertThat(driver.deviceBytes()).isEqualTo(freeBytes);
    }

    @Test
    void shouldRereadWhatACardHasWrittenEachTime() {
        try (DeviceRing ring = rings.allocate(RING_BYTES, SLOT_BYTES)) {
            Memory.putLong(ring.address() + 808, 7);
            long seen = ring.at(800, 16);
            assertThat(seen - ring.address()).as("a copy").matches(o -> o < 0 || o >= RING_BYTES);
            assertThat(Memory.getLong(seen)).isZero();
            assertThat(Memory.getLong(seen + 8)).isEqualTo(7);

            Memory.putLong(ring.address() + 800, 8);
            assertThat(Memory.getLong(ring.at(800, 8))).isEqualTo(8);
        }
    }

    @Test
    void shouldBeReadableWhileTheKernelRuns() {
        lease.whileStopped(options.stallTimeoutNs(), lease.plans()::reserve);
        try (DeviceRing ring = rings.allocate(RING_BYTES, SLOT_BYTES)) {
            int launches = driver.serveLaunches();
            ring.at(0, SLOT_BYTES);
            assertThat(driver.serveLaunches()).isEqualTo(launches);
            assertThat(driver.isIdle()).as("the kernel runs").isFalse();
        }
        lease.whileStopped(options.stallTimeoutNs(), () -> lease.plans().free(0));
    }

    /**
     * For example while an engine builds its tables; a reader that waits also polls the other
     * rings.
     */
    @Test
    @Timeout(30)
    void shouldBeReadableDuringExclusiveUseOfTheDevice() throws Exception {
        try (DeviceRing ring = rings.allocate(RING_BYTES, SLOT_BYTES)) {
            CountDownLatch stopped = new CountDownLatch(1);
            CountDownLatch looked = new CountDownLatch(1);
            Thread builds =
                    new Thread(
                            () ->
                                    lease.whileStopped(
                                            options.stallTimeoutNs(),
                                            () -> {
                                                stopped.countDown();
                                                await(looked);
                                            }));
            builds.start();
            await(stopped);
            ring.at(0, SLOT_BYTES);
            looked.countDown();
            builds.join();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @CsvSource({"-1, 8", "0, -1", "0, 201", "801, 200", "9223372036854775807, 8"})
    void shouldRejectReadsBeyondTheRingOrASlot(long offsetBytes, int lengthBytes) {
        try (DeviceRing ring = rings.allocate(RING_BYTES, SLOT_BYTES)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ring.at(offsetBytes, lengthBytes))
                    .withMessageContaining("ringBytes=1000, slotBytes=200, closed=false");
        }
    }

    @Test
    void shouldRejectReadsAfterClose() {
        DeviceRing ring = rings.allocate(RING_BYTES, SLOT_BYTES);
        ring.close();
        ring.close();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ring.at(0, 8))
                .withMessageEndingWith("closed=true");
    }

    @Test
    void shouldKeepTheDeviceUntilTheLastRingIsClosed() {
        DeviceRing ring = rings.allocate(RING_BYTES, SLOT_BYTES);
        rings.close();
        assertThat(driver.isClosed()).isFalse();
        ring.close();
        assertThat(driver.isClosed()).isTrue();
    }

    /** Each allocation of a ring fails once: its device memory and its window. */
    @ParameterizedTest
    @CsvSource({"0", "1"})
    void shouldFreeEverythingIfAnAllocationFails(int granted) {
        long freeBytes = driver.deviceBytes() + driver.pinnedBytes();
        driver.refuseAllocationsAfter(granted);
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(() -> rings.allocate(RING_BYTES, SLOT_BYTES))
                .satisfies(e -> assertThat(e.failure()).isEqualTo(GpuFailure.OUT_OF_DEVICE_MEMORY));
        assertThat(driver.deviceBytes() + driver.pinnedBytes()).isEqualTo(freeBytes);
        rings.close();
        assertThat(driver.isClosed()).as("the ring released the device").isTrue();
    }

    @Test
    void shouldKeepWithinTheMemoryBudgetOfTheEngines() {
        GpuOptions small = options.withMemory(new MemoryBudget(1 << 20, MemoryBudget.BY_MACHINE));
        lease.retain();
        try (GpuRings bounded = new GpuRings(lease, small)) {
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(() -> bounded.allocate(1 << 20, SLOT_BYTES))
                    .withMessageContaining("device memory budget: budgetBytes=1048576");
        }
    }

    @Test
    void shouldAbandonADeviceThatDoesNotAnswer() {
        DeviceRing ring = rings.allocate(RING_BYTES, SLOT_BYTES);
        driver.loseDevice();
        for (int look = 0; look < 2; look++) {
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(() -> ring.at(0, 8))
                    .satisfies(e -> assertThat(e.failure()).isEqualTo(GpuFailure.DEVICE_LOST));
        }
        assertThat(lease.isLost()).as("engines turn to the CPU").isTrue();
        ring.close();
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(() -> rings.allocate(RING_BYTES, SLOT_BYTES));
    }
}
