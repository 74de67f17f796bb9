// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Three devices with access to each other's memory, of which one fails; needs no device. */
@ExtendWith(RegionLeakExtension.class)
class DeviceLinksTest {

    private static final int DEVICES = 3;

    /** No other test claims these devices. */
    private static final int FIRST_DEVICE = 4720;

    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private final List<RefusingDriver> drivers = new ArrayList<>();
    private final List<DeviceLease> leases = new ArrayList<>();
    private boolean isClosed;

    private static DevicePart device(int member) {
        return new DevicePart(FIRST_DEVICE + member, 0);
    }

    private static DeviceLease open(int member, RefusingDriver driver) {
        return DeviceLease.open(device(member), GpuOptions.defaults(), number -> driver);
    }

    @BeforeEach
    void openLinkedDevices() {
        for (int member = 0; member < DEVICES; member++) {
            drivers.add(new RefusingDriver());
            leases.add(open(member, drivers.get(member)));
        }
        assertThat(DeviceGroup.of(leases, GpuOptions.defaults()).hasPeerAccess()).isTrue();
    }

    @AfterEach
    void endProcess() {
        drivers.forEach(RefusingDriver::endProcess);
        for (int member = 0; member < DEVICES; member++) {
            System.getProperties().remove("io.github.gpujoin.device." + device(member));
        }
        assertThat(Buffers.openCount()).isZero();
    }

    static Stream<Arguments> closings() {
        List<List<Integer>> orders =
                List.of(
                        List.of(0, 1, 2),
                        List.of(0, 2, 1),
                        List.of(1, 0, 2),
                        List.of(1, 2, 0),
                        List.of(2, 0, 1),
                        List.of(2, 1, 0));
        return IntStream.range(0, DEVICES)
                .boxed()
                .flatMap(
                        lost ->
                                orders.stream()
                                        .flatMap(
                                                order ->
                                                        Stream.of(false, true)
                                                                .map(
                                                                        run ->
                                                                                Arguments.of(
                                                                                        lost, order,
                                                                                        run))));
    }

    /** The loss is noticed only while the devices close. */
    @ParameterizedTest(name = "lost: {0}, closed in order: {1}, kernels run: {2}")
    @MethodSource("closings")
    void shouldCloseHealthyDevicesSoThatTheyCanBeLeasedAgain(
            int lost, List<Integer> order, boolean kernelsRun) {
        if (kernelsRun) {
            leases.forEach(lease -> lease.whileStopped(TIMEOUT_NS, lease.plans()::reserve));
        }
        drivers.get(lost).loseDevice();

        order.forEach(member -> leases.get(member).release());

        for (int member : order) {
            RefusingDriver driver = drivers.get(member);
            if (member != lost) {
                assertThat(driver.deviceBytes() + driver.pinnedBytes())
                        .as("bytes left on device %d", member)
                        .isZero();
                assertThat(driver.isClosed()).isTrue();
                assertThat(leases.get(member).isLost()).isFalse();
                open(member, new RefusingDriver()).release();
            }
        }
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(() -> open(lost, new RefusingDriver()))
                .satisfies(e -> assertThat(e.failure()).isEqualTo(GpuFailure.DEVICE_LOST));
    }

    /** A kernel that does not stop may still read the memory of the others. */
    @Test
    void shouldKeepTheMemoryThatAStalledKernelMayRead() {
        leases.forEach(lease -> lease.whileStopped(TIMEOUT_NS, lease.plans()::reserve));
        drivers.get(1).kernelIs(RefusingDriver.Kernel.STUCK);
        leases.get(2).links().close(0, () -> isClosed = true);

        assertThat(isClosed).isTrue();
        assertThat(leases).allMatch(DeviceLease::isLost);
        leases.forEach(DeviceLease::release);
    }
}
