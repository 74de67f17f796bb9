// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Threads that load the devices of a group. */
@ExtendWith(RegionLeakExtension.class)
@Timeout(60)
class BulkLoadersTest {

    private final CountDownLatch isOver = new CountDownLatch(1);
    private BulkDevices devices;
    private BulkLoaders loaders;

    @BeforeEach
    void open() {
        devices =
                HostBulkDevice.group(
                        GpuOptions.defaults(), new HostBulkDevice(), new HostBulkDevice());
        loaders = new BulkLoaders(devices.devices());
    }

    @AfterEach
    void close() {
        loaders.close();
        devices.close();
    }

    private DeviceCopy block(int member) {
        return loaders.submit(
                member,
                () -> {
                    isOver.await();
                    return DeviceCopy.NONE;
                });
    }

    @Test
    void shouldRunTheLoadsOfADeviceInOrder() throws Exception {
        ConcurrentLinkedQueue<Integer> loads = new ConcurrentLinkedQueue<>();
        block(0);
        for (int load = 0; load < 100; load++) {
            int number = load;
            loaders.submit(
                    0,
                    () -> {
                        loads.add(number);
                        return DeviceCopy.NONE;
                    });
        }
        isOver.countDown();
        loaders.finish();
        assertThat(loads).containsExactlyElementsOf(IntStream.range(0, 100).boxed().toList());
    }

    @Test
    void shouldLoadADeviceWhileAnotherOneWaits() throws Exception {
        DeviceCopy blocked = block(0);
        DeviceCopy other = loaders.submit(1, () -> DeviceCopy.NONE);
        other.await();
        assertThat(other.isOver()).isTrue();
        assertThat(blocked.isOver()).isFalse();
        isOver.countDown();
        blocked.await();
        assertThat(blocked.isOver()).isTrue();
    }

    @Test
    void shouldThrowTheFailureOfALoadEverywhere() {
        IllegalStateException cause = new IllegalStateException("told to fail");
        DeviceCopy queued =
                loaders.submit(
                        1,
                        () -> {
                            isOver.await();
                            throw cause;
                        });
        DeviceCopy next = loaders.submit(1, () -> DeviceCopy.NONE);
        isOver.countDown();
        for (DeviceCopy copy : List.of(queued, next)) {
            assertThatThrownBy(copy::await).isSameAs(cause);
            assertThatThrownBy(copy::isOver).isSameAs(cause);
        }
        assertThatThrownBy(() -> loaders.submit(0, () -> DeviceCopy.NONE)).isSameAs(cause);
        assertThatThrownBy(loaders::finish).isSameAs(cause);
    }

    @Test
    void shouldContinueAfterAnInterrupt() throws Exception {
        DeviceCopy copy = block(0);
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(copy::await);
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(loaders::finish);
        isOver.countDown();
        loaders.finish();
        assertThat(copy.isOver()).isTrue();
    }

    @Test
    void shouldDropLoadsWhenClosed() {
        boolean[] hasRun = new boolean[1];
        block(0);
        loaders.submit(
                0,
                () -> {
                    hasRun[0] = true;
                    return DeviceCopy.NONE;
                });
        loaders.close();
        assertThat(hasRun[0]).isFalse();
    }
}
