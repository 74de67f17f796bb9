// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Starts and stops of the serving kernel; needs no device. */
@ExtendWith(RegionLeakExtension.class)
class DeviceLeaseTest {

    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private final RefusingDriver driver = new RefusingDriver();
    private DeviceLease lease;
    private int plan;

    @BeforeEach
    void open() {
        lease = new DeviceLease(driver, GpuOptions.defaults());
        lease.whileStopped(TIMEOUT_NS, () -> plan = lease.plans().reserve());
    }

    @AfterEach
    void releaseDevice() {
        lease.whileStopped(TIMEOUT_NS, () -> lease.plans().free(plan));
        lease.release();
    }

    @Test
    void shouldRestartTheKernelAfterEachStop() {
        assertThat(driver.serveLaunches()).isEqualTo(1);
        lease.whileStopped(TIMEOUT_NS, () -> {});
        lease.whileStopped(TIMEOUT_NS, () -> {});
        assertThat(driver.serveLaunches()).isEqualTo(3);
    }

    @Test
    void shouldRestartTheKernelIfAnActionFails() {
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(
                        () ->
                                lease.whileStopped(
                                        TIMEOUT_NS,
                                        () -> {
                                            throw new IllegalStateException("told to");
                                        }));
        assertThat(driver.serveLaunches()).isEqualTo(2);
    }

    @ParameterizedTest(name = "launch={0}")
    @ValueSource(longs = {0x7FFF_FFFEL, 0xFFFF_FFFDL})
    void shouldStopTheKernelAfterAnyNumberOfLaunches(long launch) {
        lease.whileStopped(TIMEOUT_NS, () -> lease.launch = launch);
        for (int i = 0; i < 4; i++) {
            assertThat(driver.isIdle()).as("it runs until it is asked to stop").isFalse();
            lease.whileStopped(TIMEOUT_NS, () -> {});
        }
        assertThat(driver.serveLaunches()).isEqualTo(6);
    }

    @Test
    @Timeout(30)
    void shouldRestartTheKernelOnceForAllWaitingStops() throws Exception {
        CountDownLatch stopped = new CountDownLatch(1);
        CountDownLatch allWait = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        threads.add(
                new Thread(
                        () ->
                                lease.whileStopped(
                                        TIMEOUT_NS,
                                        () -> {
                                            stopped.countDown();
                                            await(allWait);
                                        })));
        threads.get(0).start();
        await(stopped);
        for (int i = 0; i < 3; i++) {
            Thread waiting = new Thread(() -> lease.whileStopped(TIMEOUT_NS, () -> {}));
            waiting.start();
            threads.add(waiting);
            while (waiting.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
        }
        allWait.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(driver.serveLaunches()).isEqualTo(2);
    }

    @Test
    void shouldFreeTheDeviceThatDoesNotUnregisterMemory() {
        RefusingDriver keeping = new RefusingDriver();
        DeviceLease closed = new DeviceLease(keeping, GpuOptions.defaults());
        List<Region> regions = List.of(Region.allocate(4096), Region.allocate(4096));
        for (Region region : regions) {
            closed.registrations().deviceAddress(region, region.address(), TIMEOUT_NS);
        }
        keeping.keepRegistrations();
        closed.release();
        assertThat(keeping.isClosed()).isTrue();
        assertThat(keeping.pinnedBytes() + keeping.deviceBytes()).isZero();
        // Their memory stays allocated, since the device may still use it.
        regions.forEach(Region::close);
        assertThat(keeping.registeredCount()).isEqualTo(2);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
