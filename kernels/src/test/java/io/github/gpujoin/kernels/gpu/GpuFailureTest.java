// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures of the device, with rings in host and device memory; needs no device. */
@ParameterizedClass(name = "ring in {0} memory")
@EnumSource(RingMemory.class)
@ExtendWith(RegionLeakExtension.class)
class GpuFailureTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.nullable("text", ColumnType.STRING));
    private static final DimensionSpec SIDE = new DimensionSpec("d", SCHEMA, 0, 0, JoinKind.INNER);
    private static final JoinSpec SPEC = new JoinSpec(SCHEMA, List.of(SIDE));
    private static final long STALL_TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private final RefusingDriver driver = new RefusingDriver();
    private DeviceLease lease;
    private GpuJoinEngine engine;

    @Parameter private RingMemory ringMemory;

    @BeforeEach
    void makeEngine() {
        GpuOptions options =
                GpuOptions.defaults()
                        .withSlots(2, 64)
                        .withRingMemory(ringMemory)
                        .withStallTimeoutNs(STALL_TIMEOUT_NS);
        lease = new DeviceLease(driver, options);
        engine = new GpuJoinEngine(SPEC, options, lease);
        engine.submitBuild(0, chunk());
    }

    @AfterEach
    void shouldHaveFreedAllDeviceMemory() {
        engine.close();
        assertThat(driver.isClosed()).isEqualTo(!lease.isLost());
        driver.endProcess();
        assertThat(Buffers.openCount()).isZero();
    }

    private static Chunk chunk() {
        return TestChunks.of(
                SCHEMA, 0, List.of(new Object[] {1L, "one"}, new Object[] {2L, "two"}));
    }

    private void assertFails(GpuFailure expected, Runnable call) {
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(call::run)
                .withMessageContaining("(" + expected + ")")
                .satisfies(e -> assertThat(e.failure()).isEqualTo(expected));
        assertThat(engine.state()).isEqualTo(EngineState.FAILED);
    }

    @ParameterizedTest(name = "after {0} allocations")
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
    void shouldFailIfTablesOrBuffersDoNotFit(int allocations) {
        driver.refuseAllocationsAfter(allocations);
        assertFails(GpuFailure.OUT_OF_DEVICE_MEMORY, engine::finishBuild);
        assertThat(lease.isLost()).as("others may go on with less").isFalse();
    }

    @Test
    void shouldFailIfTheDeviceIsLostWhileLoading() {
        driver.loseDevice();
        assertFails(GpuFailure.DEVICE_LOST, engine::finishBuild);
    }

    @Test
    void shouldKeepInFlightProbesIfTheKernelStalls() {
        engine.finishBuild();
        engine.submitProbe(chunk(), 1);
        assertFails(GpuFailure.KERNEL_STALLED, this::pollForever);
        assertThat(engine.snapshot())
                .containsExactlyElementsOf(
                        Collections.singletonList(new InFlightProbe(chunk(), 1)));
    }

    /** The kernel is idle, and no step of the other join ends. */
    @Test
    void shouldNotWaitForItsShareForEver() {
        engine.finishBuild();
        try (BusShares.Share other =
                lease.ring().shares().open(new JoinShare(UUID.randomUUID(), 1))) {
            for (int i = 0; i < 100; i++) {
                other.posted(1 << 20, BusShares.Bottleneck.DEVICE);
            }
            engine.submitProbe(chunk(), 0);
            assertFails(
                    GpuFailure.KERNEL_STALLED,
                    () -> {
                        while (true) {
                            other.waits(BusShares.Bottleneck.DEVICE);
                            engine.poll();
                        }
                    });
        }
    }

    @Test
    void shouldDetectAStalledKernelWithRarePolls() {
        engine.finishBuild();
        engine.submitProbe(chunk(), 0);
        assertFails(
                GpuFailure.KERNEL_STALLED,
                () -> {
                    while (true) {
                        engine.poll();
                        sleepLongerThanTheStallTimeout();
                    }
                });
    }

    /** For example between two bursts of facts, and upstream of a slow sink. */
    @Test
    void shouldNotCountTimeWithoutPollsAsAStall() {
        engine.finishBuild();
        for (int round = 0; round < 3; round++) {
            engine.submitProbe(chunk(), 0);
            assertThat(engine.poll()).as("nothing is answered yet").isNull();
            sleepLongerThanTheStallTimeout();
            assertThat(engine.poll()).isNull();
            ResultBatch batch = null;
            while (batch == null) {
                driver.answerSteps();
                batch = engine.poll();
            }
            assertThat(batch.isLast()).isTrue();
            sleepLongerThanTheStallTimeout();
        }
        assertThat(lease.isLost()).isFalse();
    }

    @Test
    void shouldFreeNothingWhileAKernelStillRuns() {
        driver.kernelIs(RefusingDriver.Kernel.BUILD_STUCK);
        assertFails(GpuFailure.KERNEL_STALLED, engine::finishBuild);
        assertThat(lease.isLost()).isTrue();
    }

    @Test
    void shouldKeepInFlightProbesIfTheKernelHasEnded() {
        engine.finishBuild();
        engine.submitProbe(chunk(), 0);
        driver.kernelIs(RefusingDriver.Kernel.GONE);
        assertFails(GpuFailure.DEVICE_LOST, this::pollForever);
        assertThat(engine.snapshot()).hasSize(1);
        assertThat(lease.isLost()).isTrue();
    }

    @Test
    void shouldCloseIfTheKernelDoesNotStop() {
        engine.finishBuild();
        driver.kernelIs(RefusingDriver.Kernel.STUCK);
        engine.close();
        assertThat(lease.isLost()).isTrue();
    }

    /** A ring in host memory needs no copies; there the kernel stalls. */
    @Test
    void shouldKeepInFlightProbesIfACopyDoesNotEnd() {
        engine.finishBuild();
        driver.stickCopies();
        engine.submitProbe(chunk(), 0);
        assertFails(GpuFailure.KERNEL_STALLED, this::pollForever);
        assertThat(engine.snapshot()).hasSize(1);
    }

    @Test
    void shouldCloseWhileSegmentsAreInFlight() {
        engine.finishBuild();
        engine.submitProbe(chunk(), 0);
        engine.submitProbe(chunk(), 0);
        engine.close();
        assertThat(driver.copiesUnderWay()).isEmpty();
    }

    @Test
    void shouldCloseIfTheDeviceIsLost() {
        engine.finishBuild();
        driver.loseDevice();
        engine.close();
        assertThat(engine.state()).isEqualTo(EngineState.CLOSED);
    }

    private static void sleepLongerThanTheStallTimeout() {
        LockSupport.parkNanos(2 * STALL_TIMEOUT_NS);
    }

    private void pollForever() {
        while (true) {
            engine.poll();
        }
    }
}
