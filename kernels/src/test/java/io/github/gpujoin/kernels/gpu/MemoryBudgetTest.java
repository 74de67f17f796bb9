// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Device and pinned memory: counted exactly, within the budget, and freed. Needs no device. */
@ExtendWith(RegionLeakExtension.class)
class MemoryBudgetTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("value", ColumnType.INT64));
    private static final JoinSpec SPEC =
            new JoinSpec(
                    SCHEMA,
                    List.of(
                            new DimensionSpec("a", SCHEMA, 0, 0, JoinKind.INNER),
                            new DimensionSpec("b", SCHEMA, 0, 1, JoinKind.SEMI)));
    private static final Chunk CHUNK =
            TestChunks.of(SCHEMA, 0, List.of(new Object[] {1L, 10L}, new Object[] {2L, 20L}));

    private final RefusingDriver driver = new RefusingDriver();

    @AfterEach
    void shouldHaveFreedAllDeviceMemory() {
        driver.endProcess();
        assertThat(Buffers.openCount()).isZero();
    }

    private static GpuOptions options(MemoryBudget budget) {
        return GpuOptions.defaults()
                .withSlots(2, 64)
                .withEncodeSegments(true)
                .withMemory(budget)
                .withStallTimeoutNs(TimeUnit.MILLISECONDS.toNanos(20));
    }

    /** An engine with a lease of its own. */
    private static GpuJoinEngine engine(RefusingDriver driver, MemoryBudget budget) {
        return engine(new DeviceLease(driver, options(budget)), budget);
    }

    private static GpuJoinEngine engine(JoinSpec spec, RefusingDriver driver, MemoryBudget budget) {
        return new GpuJoinEngine(spec, options(budget), new DeviceLease(driver, options(budget)));
    }

    private static GpuJoinEngine engine(DeviceLease lease, MemoryBudget budget) {
        return new GpuJoinEngine(SPEC, options(budget), lease);
    }

    private static void submitBuilds(GpuJoinEngine engine) {
        engine.submitBuild(0, CHUNK);
        engine.submitBuild(1, CHUNK);
    }

    private static void load(GpuJoinEngine engine) {
        submitBuilds(engine);
        engine.finishBuild();
    }

    /** The maximum memory of the join without a limit. */
    private static MemoryUse peakUse() {
        RefusingDriver unlimited = new RefusingDriver();
        try (GpuJoinEngine engine = engine(unlimited, MemoryBudget.byMachine())) {
            load(engine);
            return engine.memoryUse();
        }
    }

    private static void assertRefused(Runnable call) {
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(call::run)
                .satisfies(e -> assertThat(e.failure()).isEqualTo(GpuFailure.OUT_OF_DEVICE_MEMORY));
    }

    @Test
    void shouldCountTheMemoryThatTheDriverAllocated() {
        GpuJoinEngine engine = engine(driver, MemoryBudget.byMachine());
        MemoryUse use;
        try (engine) {
            load(engine);
            use = engine.memoryUse();
            assertThat(use.deviceBytes()).isEqualTo(driver.deviceBytes()).isPositive();
            assertThat(use.pinnedBytes()).isEqualTo(driver.pinnedBytes()).isPositive();
        }
        assertThat(engine.memoryUse())
                .isEqualTo(new MemoryUse(0, use.peakDeviceBytes(), 0, use.peakPinnedBytes()));
    }

    static IntStream allocations() {
        RefusingDriver driver = new RefusingDriver();
        try (GpuJoinEngine engine = engine(driver, MemoryBudget.byMachine())) {
            load(engine);
        }
        return IntStream.range(0, driver.allocations());
    }

    @ParameterizedTest(name = "after {0} allocations")
    @MethodSource("allocations")
    void shouldFreeEverythingIfAnyAllocationFails(int granted) {
        driver.refuseAllocationsAfter(granted);
        GpuJoinEngine engine;
        try {
            engine = engine(driver, MemoryBudget.byMachine());
        } catch (GpuUnavailableException e) {
            assertThat(e.failure()).isEqualTo(GpuFailure.OUT_OF_DEVICE_MEMORY);
            assertThat(driver.isClosed()).isTrue();
            assertThat(driver.deviceBytes() + driver.pinnedBytes()).isZero();
            return;
        }
        try (engine) {
            MemoryUse leased = engine.memoryUse();
            assertRefused(() -> load(engine));
            assertThat(engine.state()).isEqualTo(EngineState.FAILED);
            assertThat(engine.tableKinds()).isEmpty();
            assertThat(engine.memoryUse().deviceBytes()).isEqualTo(leased.deviceBytes());
            assertThat(engine.memoryUse().pinnedBytes()).isEqualTo(leased.pinnedBytes());
        }
        assertThat(driver.deviceBytes() + driver.pinnedBytes()).isZero();
    }

    @Test
    void shouldFitAnExactBudget() {
        MemoryUse peak = peakUse();
        MemoryBudget exact = new MemoryBudget(peak.peakDeviceBytes(), peak.peakPinnedBytes());
        try (GpuJoinEngine engine = engine(driver, exact)) {
            load(engine);
            assertThat(engine.memoryUse()).isEqualTo(peak);
        }
    }

    @Test
    void shouldRejectOneByteOverTheDeviceBudget() {
        MemoryUse peak = peakUse();
        MemoryBudget budget = new MemoryBudget(peak.peakDeviceBytes() - 1, MemoryBudget.BY_MACHINE);
        try (GpuJoinEngine engine = engine(driver, budget)) {
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(() -> load(engine))
                    .withMessageContaining("device memory budget: budgetBytes=")
                    .withMessageContaining("budgetBytes=" + budget.deviceBytes() + ", usedBytes=")
                    .withMessageContaining("OUT_OF_DEVICE_MEMORY");
        }
    }

    @Test
    void shouldRejectOneByteOverThePinnedBudget() {
        MemoryUse peak = peakUse();
        MemoryBudget budget = new MemoryBudget(MemoryBudget.BY_MACHINE, peak.peakPinnedBytes() - 1);
        try (GpuJoinEngine engine = engine(driver, budget)) {
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(() -> load(engine))
                    .withMessageContaining("pinned memory budget: budgetBytes=")
                    .withMessageContaining("budgetBytes=" + budget.pinnedBytes() + ", usedBytes=");
        }
    }

    /** Host memory belongs to the process, not to one of its devices. */
    @Test
    void shouldCountTheHostMemoryOfAllDevicesTogether() {
        MemoryUse peak = peakUse();
        MemoryBudget forOne = new MemoryBudget(MemoryBudget.BY_MACHINE, peak.peakPinnedBytes());
        RefusingDriver other = new RefusingDriver();
        RefusingDriver another = new RefusingDriver();
        try (GpuJoinEngine first = engine(driver, forOne)) {
            load(first);
            try (GpuJoinEngine refused = engine(other, forOne)) {
                assertRefused(() -> load(refused));
            }
            MemoryBudget forTwo =
                    new MemoryBudget(MemoryBudget.BY_MACHINE, 2 * peak.peakPinnedBytes());
            try (GpuJoinEngine second = engine(another, forTwo)) {
                load(second);
                assertThat(second.memoryUse().pinnedBytes())
                        .isEqualTo(another.pinnedBytes())
                        .isPositive();
            }
        }
        try (GpuJoinEngine third = engine(new RefusingDriver(), forOne)) {
            load(third);
        }
    }

    /** Host memory of one engine, as a subtask reserves it in the managed memory of its slot. */
    private static final class Share implements MemoryReservations {
        private final long limitBytes;
        private long usedBytes;
        private long peakBytes;

        Share(long limitBytes) {
            this.limitBytes = limitBytes;
        }

        @Override
        public synchronized void reserve(long lengthBytes) {
            if (usedBytes + lengthBytes > limitBytes) {
                throw new MemoryRefusedException("The share is used up.", null);
            }
            usedBytes += lengthBytes;
            peakBytes = Math.max(peakBytes, usedBytes);
        }

        @Override
        public synchronized void release(long lengthBytes) {
            usedBytes -= lengthBytes;
        }

        @Override
        public synchronized long availableBytes() {
            return limitBytes - usedBytes;
        }
    }

    private GpuJoinEngine engine(Share share) {
        GpuOptions options = options(MemoryBudget.byMachine());
        return new GpuJoinEngine(
                SPEC, options, share, DeviceGroup.of(new DeviceLease(driver, options)), null);
    }

    @Test
    void shouldReserveHostMemoryBeforeItIsAllocated() {
        Share share = new Share(Long.MAX_VALUE);
        long leasedBytes;
        try (GpuJoinEngine engine = engine(share)) {
            leasedBytes = engine.memoryUse().pinnedBytes();
            load(engine);
            assertThat(share.usedBytes).isPositive();
            assertThat(share.usedBytes).isEqualTo(engine.memoryUse().pinnedBytes() - leasedBytes);
        }
        assertThat(share.usedBytes).isZero();
        Share tooSmall = new Share(share.peakBytes - 1);
        try (GpuJoinEngine engine = engine(tooSmall)) {
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(() -> load(engine))
                    .withMessageContaining("No host memory is left for a GPU's buffers")
                    .withMessageContaining("The share is used up.");
        }
        assertThat(tooSmall.usedBytes).isZero();
    }

    @Test
    void shouldCountVariableWidthBytesAsHostMemory() {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("key", ColumnType.INT64), Column.of("text", ColumnType.STRING));
        JoinSpec spec =
                new JoinSpec(schema, List.of(new DimensionSpec("d", schema, 0, 0, JoinKind.INNER)));
        String text = "t".repeat(100_000);
        Chunk chunk = TestChunks.of(schema, 0, List.<Object[]>of(new Object[] {1L, text}));
        MemoryUse use;
        try (GpuJoinEngine engine = engine(spec, driver, MemoryBudget.byMachine())) {
            engine.submitBuild(0, chunk);
            engine.finishBuild();
            use = engine.memoryUse();
            assertThat(use.pinnedBytes() - driver.pinnedBytes())
                    .isGreaterThanOrEqualTo(text.length());
            assertThat(engine.stats().tableBytes()).isLessThan(text.length());
        }
        RefusingDriver other = new RefusingDriver();
        MemoryBudget budget = new MemoryBudget(MemoryBudget.BY_MACHINE, use.peakPinnedBytes() - 1);
        try (GpuJoinEngine engine = engine(spec, other, budget)) {
            assertRefused(
                    () -> {
                        engine.submitBuild(0, chunk);
                        engine.finishBuild();
                    });
        }
        assertThat(other.pinnedBytes()).isZero();
    }

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(longs = {0, 1})
    void shouldNotOpenADeviceWithoutMemory(long bytes) {
        assertRefused(() -> new DeviceLease(driver, options(new MemoryBudget(bytes, bytes))));
        assertThat(driver.isClosed()).isTrue();
        assertThat(driver.deviceBytes() + driver.pinnedBytes()).isZero();
    }

    @Test
    void shouldCountAllEnginesOfADeviceTogether() {
        MemoryUse peak = peakUse();
        MemoryBudget forOne = new MemoryBudget(peak.peakDeviceBytes(), MemoryBudget.BY_MACHINE);
        DeviceLease lease = new DeviceLease(driver, options(forOne));
        lease.retain();
        GpuJoinEngine first = engine(lease, forOne);
        load(first);
        GpuJoinEngine second = engine(lease, forOne);
        assertRefused(() -> load(second));
        second.close();
        lease.retain();
        first.close();
        try (GpuJoinEngine third = engine(lease, forOne)) {
            load(third);
        }
    }

    @ParameterizedTest(name = "fork closed first: {0}")
    @ValueSource(booleans = {true, false})
    void shouldKeepSharedTablesUntilTheLastEngineCloses(boolean forkFirst) {
        GpuJoinEngine engine = engine(driver, MemoryBudget.byMachine());
        load(engine);
        long own = engine.memoryUse().deviceBytes();
        GpuJoinEngine fork = engine.fork();
        long tableBytes = engine.stats().tableBytes();
        assertThat(fork.stats()).isEqualTo(engine.stats());
        assertThat(engine.memoryUse().deviceBytes()).isLessThan(2 * own - tableBytes);
        GpuJoinEngine last = forkFirst ? engine : fork;
        (forkFirst ? fork : engine).close();
        assertThat(last.stats().tableBytes()).isEqualTo(tableBytes);
        assertThat(last.memoryUse().deviceBytes()).isEqualTo(own);
        last.close();
        assertThat(last.memoryUse().deviceBytes()).isZero();
        assertThat(last.memoryUse().pinnedBytes()).isZero();
    }

    @Test
    void shouldLeaveAnEngineUnchangedIfAForkExceedsTheBudget() {
        try (GpuJoinEngine engine = engine(driver, MemoryBudget.byMachine())) {
            load(engine);
            MemoryUse use = engine.memoryUse();
            int granted = 0;
            for (GpuJoinEngine fork = null; fork == null; granted++) {
                driver.refuseAllocationsAfter(granted);
                try {
                    fork = engine.fork();
                    fork.close();
                } catch (GpuUnavailableException e) {
                    assertThat(e.failure()).isEqualTo(GpuFailure.OUT_OF_DEVICE_MEMORY);
                }
                assertThat(engine.memoryUse().deviceBytes()).isEqualTo(use.deviceBytes());
                assertThat(engine.memoryUse().pinnedBytes()).isEqualTo(use.pinnedBytes());
            }
            assertThat(granted).isGreaterThan(3);
        }
    }

    @Test
    void shouldCountDownToZeroIfTheDeviceOfSharedTablesIsLost() {
        GpuJoinEngine engine = engine(driver, MemoryBudget.byMachine());
        load(engine);
        GpuJoinEngine fork = engine.fork();
        driver.loseDevice();
        engine.close();
        fork.close();
        assertThat(fork.memoryUse().deviceBytes()).isZero();
        assertThat(fork.memoryUse().pinnedBytes()).isZero();
    }

    /** What has happened to an engine when it is closed. */
    enum Life {
        LOADING,
        JOINING,
        DEVICE_LOST_WHILE_LOADING,
        DEVICE_LOST,
        KERNEL_STUCK
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(Life.class)
    void shouldCountDownToZeroInAnyState(Life life) {
        GpuJoinEngine engine = engine(driver, MemoryBudget.byMachine());
        if (life == Life.DEVICE_LOST_WHILE_LOADING) {
            submitBuilds(engine);
            driver.loseDevice();
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(engine::finishBuild);
        } else if (life == Life.LOADING) {
            submitBuilds(engine);
        } else {
            load(engine);
        }
        if (life == Life.DEVICE_LOST) {
            driver.loseDevice();
        } else if (life == Life.KERNEL_STUCK) {
            driver.kernelIs(RefusingDriver.Kernel.STUCK);
        }
        engine.close();
        assertThat(engine.memoryUse().deviceBytes()).isZero();
        assertThat(engine.memoryUse().pinnedBytes()).isZero();
    }

    @Test
    void shouldRejectANegativeBudget() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MemoryBudget(0, -2))
                .withMessage(
                        "Invalid memory budget: pinnedBytes=-2. Use 0 or more bytes, or -1 to"
                                + " follow the machine.");
    }
}
