// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.engine.testing.ResultRow;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory and limits of tables with a changelog; needs no device. */
@ExtendWith(RegionLeakExtension.class)
class GpuChangingTableTest {

    private static final ChunkSchema FACTS =
            ChunkSchema.of(Column.of("fact_key", ColumnType.INT64));
    private static final ChunkSchema SIDE =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32),
                    Column.of("text", ColumnType.STRING));
    private static final JoinSpec SPEC =
            new JoinSpec(
                    FACTS, List.of(new DimensionSpec("prices", SIDE, 0, 0, JoinKind.INNER, 1)));
    private static final ChunkSchema REGIONS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("region", ColumnType.INT64));
    private static final JoinSpec STAR =
            new JoinSpec(
                    FACTS,
                    List.of(
                            SPEC.dimensions().get(0),
                            new DimensionSpec("regions", REGIONS, 0, 0, JoinKind.INNER)));
    private static final ChunkSchema NUMBER_SIDE =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("change", ColumnType.INT32));
    private static final JoinSpec NUMBERS =
            new JoinSpec(
                    FACTS,
                    List.of(new DimensionSpec("numbers", NUMBER_SIDE, 0, 0, JoinKind.INNER, 1)));
    private static final GpuOptions SMALL = GpuOptions.defaults().withSlots(2, 1000);
    private static final String TEXT = "x".repeat(100);

    @AfterEach
    void shouldHaveFreedAllDeviceMemory() {
        assertThat(Buffers.openCount()).isZero();
    }

    private static Chunk changes(RowChange change, long firstKey, long endKey) {
        return TestChunks.of(
                SIDE,
                0,
                LongStream.range(firstKey, endKey)
                        .mapToObj(key -> new Object[] {key, change.code(), TEXT + key})
                        .toList());
    }

    private static Chunk numbers(long firstKey, long endKey) {
        return TestChunks.of(
                NUMBER_SIDE,
                0,
                LongStream.range(firstKey, endKey)
                        .mapToObj(key -> new Object[] {key, RowChange.UPSERT.code()})
                        .toList());
    }

    private static Chunk regions(long firstKey, long endKey) {
        return TestChunks.of(
                REGIONS,
                1,
                LongStream.range(firstKey, endKey)
                        .mapToObj(key -> new Object[] {key, -key})
                        .toList());
    }

    private static Chunk facts(long firstKey, long endKey) {
        return TestChunks.of(
                FACTS,
                LongStream.range(firstKey, endKey)
                        .mapToObj(key -> new Object[] {key})
                        .toArray(Object[][]::new));
    }

    private static int matches(GpuJoinEngine engine, long firstKey, long endKey) {
        EngineRun run = new EngineRun(engine);
        run.submit(facts(firstKey, endKey), 0);
        run.drain();
        return run.results().get(0).size();
    }

    private static GpuOptions onDevices(int count) {
        return SMALL.withDevices(IntStream.range(0, count).boxed().toList());
    }

    @ParameterizedTest(name = "{0} devices")
    @ValueSource(ints = {1, 3})
    void shouldReuseTheMemoryOfDeletedRows(int devices) throws Exception {
        try (HostDevice device = HostDevice.open(onDevices(devices));
                GpuJoinEngine engine = (GpuJoinEngine) device.create(SPEC)) {
            engine.submitBuild(0, changes(RowChange.UPSERT, -500, 0));
            engine.finishBuild();
            long mostBytes = 0;
            for (int round = 0; round < 40; round++) {
                long key = 4_000L * (1 + round);
                engine.submitBuild(0, changes(RowChange.UPSERT, key, key + 4_000));
                assertThat(matches(engine, key - 100, key + 4_000)).isEqualTo(4_000);
                engine.submitBuild(0, changes(RowChange.DELETE, key, key + 4_000));
                mostBytes = Math.max(mostBytes, engine.stats().tableBytes());
                if (round == 10) {
                    assertThat(mostBytes).isPositive();
                    mostBytes += 4 << 20; // a page of variable-width bytes, give or take
                }
                assertThat(engine.stats().tableBytes()).isLessThanOrEqualTo(mostBytes);
            }
            assertThat(matches(engine, -1_000, 12_000)).isEqualTo(500);
            assertThat(mostBytes).isLessThan(20L << 20);
        }
    }

    private static long applyAll(GpuChangingTable table, long from, long end, long chunkRows) {
        long steps = 0;
        for (long key = from; key < end; key += chunkRows) {
            table.append(changes(RowChange.UPSERT, key, Math.min(end, key + chunkRows)));
            table.flush();
            boolean compacted = table.isCompacting();
            table.apply();
            steps += compacted || table.isCompacting() ? 1 : 0;
        }
        return steps;
    }

    /** One pass over all rows would block the facts for a time proportional to the table. */
    @Test
    void shouldCompactVariableWidthColumnsInSteps() throws Exception {
        int rows = GpuChangingTable.REFERENCE_SLOTS;
        DimensionSpec dimension = SPEC.dimensions().get(0);
        try (HostDevice device = HostDevice.open(SMALL)) {
            DeviceLease lease = device.lease();
            Buffers buffers = lease.memory().buffers(SMALL.memory());
            GpuChangingTable table =
                    new GpuChangingTable(
                            dimension,
                            DeviceGroup.of(lease),
                            MemoryLimits.of(SMALL.memory()),
                            List.of(buffers),
                            SMALL.stallTimeoutNs());
            applyAll(table, 0, rows, 20_000);
            while (table.isCompacting()) {
                applyAll(table, 0, 1, 1);
            }
            long bytesBefore = table.lengthBytes();
            long steps = 0;
            for (int round = 0; round < 4; round++) {
                steps += applyAll(table, 0, rows, 20_000);
            }
            assertThat(steps).as("applies that compacted").isGreaterThan(3);
            while (table.isCompacting()) {
                applyAll(table, 0, 1, 1);
            }
            assertThat(table.lengthBytes()).isLessThan(3 * bytesBefore);
            table.free();
            buffers.close();
        }
    }

    /** Each row keeps its own text, whether it is copied before or after it is changed. */
    @ParameterizedTest(name = "{0} devices")
    @ValueSource(ints = {1, 2})
    void shouldEmitTheLastTextOfEachKeyWhileColumnsAreCompacted(int devices) throws Exception {
        int keys = 2 * GpuChangingTable.REFERENCE_SLOTS;
        try (HostDevice device = HostDevice.open(onDevices(devices));
                GpuJoinEngine engine = (GpuJoinEngine) device.create(SPEC)) {
            engine.finishBuild();
            Random random = new Random(7);
            for (int round = 0; round < 3; round++) {
                for (int key = 0; key < keys; key += 16_384) {
                    engine.submitBuild(0, changes(RowChange.UPSERT, key, key + 16_384));
                    int sample = random.nextInt(keys - 10);
                    int known = round == 0 ? key + 16_384 : keys;
                    EngineRun run = new EngineRun(engine);
                    run.submit(facts(sample, sample + 10), 0);
                    run.drain();
                    List<ResultRow> results = run.results().get(0);
                    assertThat(results).hasSize(Math.max(0, Math.min(10, known - sample)));
                    for (ResultRow result : results) {
                        String text = TEXT + (sample + result.probeRow());
                        assertThat(result.payload())
                                .endsWithIgnoringCase(
                                        HexFormat.of().formatHex(text.getBytes(US_ASCII)) + "]");
                    }
                }
            }
        }
    }

    @ParameterizedTest(name = "{0} devices")
    @ValueSource(ints = {1, 2})
    void shouldApplyManyChangesWhileDimensionsAreLoaded(int devices) throws Exception {
        try (HostDevice device = HostDevice.open(onDevices(devices));
                GpuJoinEngine engine = (GpuJoinEngine) device.create(STAR)) {
            engine.submitBuild(1, regions(0, 100));
            Chunk updates = changes(RowChange.UPSERT, 0, 10_000);
            for (int i = 0; i < 150; i++) {
                engine.submitBuild(0, updates);
            }
            engine.submitBuild(0, changes(RowChange.DELETE, 0, 1));
            engine.submitBuild(1, regions(100, 11_000));
            engine.finishBuild();
            assertThat(matches(engine, 0, 12_000)).isEqualTo(9_999);
            assertThat(engine.memoryUse().peakDeviceBytes())
                    .as("changes of a key do not pile up: 1.5 million would take 36 MB as they are")
                    .isLessThan(32L << 20);
        }
    }

    /** Whole tables would take as much memory on each device as on one. */
    @Test
    void shouldChangeARowOnTheDeviceOfItsKeyOnly() throws Exception {
        long[] bytes = new long[4];
        for (int devices : new int[] {1, 3}) {
            try (HostDevice device = HostDevice.open(onDevices(devices));
                    GpuJoinEngine engine = (GpuJoinEngine) device.create(NUMBERS)) {
                engine.finishBuild();
                engine.submitBuild(0, numbers(0, 300_000));
                assertThat(matches(engine, 0, 1)).isOne();
                bytes[devices] = engine.stats().tableBytes();
            }
        }
        // Besides slots, each device has pinned runs, and runs that accumulated.
        assertThat(bytes[3]).isLessThan(bytes[1] * 5 / 4);
    }

    /** Kernels do nothing here; the test checks memory. */
    @ParameterizedTest(name = "{0} devices")
    @ValueSource(ints = {1, 2})
    void shouldFailAndFreeEverythingIfAnyAllocationFails(int devices) {
        for (int granted = 0; ; granted++) {
            List<RefusingDriver> drivers = new ArrayList<>();
            List<DeviceLease> leases = new ArrayList<>();
            for (int device = 0; device < devices; device++) {
                drivers.add(new RefusingDriver());
                leases.add(new DeviceLease(drivers.get(device), SMALL.withDevice(device)));
            }
            GpuJoinEngine engine =
                    new GpuJoinEngine(
                            SPEC,
                            onDevices(devices),
                            MemoryReservations.unlimited(),
                            DeviceGroup.of(leases, onDevices(devices)),
                            null);
            engine.submitBuild(0, changes(RowChange.UPSERT, 0, 10));
            engine.finishBuild();
            RefusingDriver last = drivers.get(devices - 1);
            last.refuseAllocationsAfter(granted);
            boolean refused = false;
            try {
                engine.submitBuild(0, changes(RowChange.UPSERT, 0, 5_000));
                engine.submitProbe(facts(0, 1), 0);
            } catch (GpuUnavailableException e) {
                assertThat(e.failure()).isEqualTo(GpuFailure.OUT_OF_DEVICE_MEMORY);
                assertThat(engine.state()).isEqualTo(EngineState.FAILED);
                refused = true;
            } finally {
                drivers.forEach(RefusingDriver::loseDevice); // steps of facts would never end
                engine.close();
                drivers.forEach(RefusingDriver::endProcess);
            }
            assertThat(Buffers.openCount()).isZero();
            if (!refused) {
                assertThat(granted).as("allocations for changes").isGreaterThan(1);
                return;
            }
        }
    }

    /** At each driver call, from the first copy of changes to the results of a fact. */
    @ParameterizedTest(name = "device {0}")
    @ValueSource(ints = {0, 1})
    void shouldFailIfADeviceIsLostWhileChangesAreApplied(int lost) throws Exception {
        int goodCalls = 0;
        while (failsIfADeviceIsLost(lost, goodCalls)) {
            goodCalls++;
        }
        assertThat(goodCalls).as("driver calls while changes are applied").isGreaterThan(10);
    }

    /** Returns whether the engine failed. The other device stays usable, and is freed. */
    private static boolean failsIfADeviceIsLost(int lost, int goodCalls) throws Exception {
        HostDevice device = HostDevice.open(onDevices(2));
        DeviceLease healthy = device.group().members().get(1 - lost);
        long usedBytes = healthy.memory().use().deviceBytes();
        GpuJoinEngine engine = (GpuJoinEngine) device.create(SPEC);
        engine.finishBuild();
        engine.submitBuild(0, changes(RowChange.UPSERT, 0, 1_000));
        assertThat(matches(engine, 0, 1_000)).isEqualTo(1_000);
        device.loseDeviceAfter(lost, goodCalls);
        boolean fails = false;
        try {
            engine.submitBuild(0, changes(RowChange.UPSERT, 500, 4_500));
            assertThat(matches(engine, 0, 10_000)).isEqualTo(4_500);
        } catch (GpuUnavailableException e) {
            fails = true;
            assertThat(e.failure()).isEqualTo(GpuFailure.DEVICE_LOST);
            assertThat(engine.state()).isEqualTo(EngineState.FAILED);
        }
        engine.close();
        if (fails) {
            assertThat(healthy.isLost()).isFalse();
            assertThat(healthy.memory().use().deviceBytes()).isEqualTo(usedBytes);
        }
        device.close();
        device.endProcess();
        assertThat(Buffers.openCount()).isZero();
        return fails;
    }

    @Test
    void shouldRejectPlainRowsAndForks() throws Exception {
        try (HostDevice device = HostDevice.open(SMALL);
                GpuJoinEngine engine = (GpuJoinEngine) device.create(SPEC)) {
            engine.finishBuild();
            assertThat(matches(engine, 0, 10)).isZero();
            assertThatIllegalStateException()
                    .isThrownBy(engine::fork)
                    .withMessageContaining("prices");
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> engine.forkLoading(0));
            Chunk noChange = TestChunks.of(SIDE, 0, List.<Object[]>of(new Object[] {1L, 2, "a"}));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> engine.submitBuild(0, noChange))
                    .withMessageContaining("code=2");
        }
    }
}
