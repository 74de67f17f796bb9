// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.BuildShare;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.TableMemory;
import io.github.gpujoin.core.histogram.Histogram;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two devices on the CPU. */
@ExtendWith(RegionLeakExtension.class)
class DeviceGroupTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("value", ColumnType.INT64));
    private static final DimensionSpec SIDE = new DimensionSpec("d", SCHEMA, 0, 0, JoinKind.INNER);
    private static final JoinSpec SPEC = new JoinSpec(SCHEMA, List.of(SIDE));

    /** The second dimension is loaded later. */
    private static final JoinSpec JOIN_OF_TWO =
            new JoinSpec(
                    SCHEMA, List.of(SIDE, new DimensionSpec("e", SCHEMA, 0, 0, JoinKind.INNER)));

    private static final int ROWS = 5_000;
    private static final int CHUNK_ROWS = 500;

    /** Two slots of 24 bytes for each row. */
    private static final long TABLE_ROW_BYTES = 48;

    private static final long STOP_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private HostDevice devices;

    @BeforeEach
    void open() throws Exception {
        devices = HostDevice.open(options(TableSpread.BY_SIZE));
    }

    @AfterEach
    void close() {
        devices.close();
        devices.endProcess();
    }

    private static GpuOptions options(TableSpread spread) {
        return GpuOptions.defaults()
                .withSlots(4, 100)
                .withDevices(List.of(0, 1))
                .withSpread(spread);
    }

    private static Chunk chunk(int dimension, long from, long to) {
        return TestChunks.of(
                SCHEMA,
                dimension,
                LongStream.range(from, to).mapToObj(key -> new Object[] {key, 3 * key}).toList());
    }

    private GpuJoinEngine engine(TableSpread spread) {
        return engine(SPEC, spread);
    }

    private GpuJoinEngine engine(JoinSpec spec, TableSpread spread) {
        devices.group().retain();
        GpuJoinEngine engine =
                new GpuJoinEngine(
                        spec,
                        options(spread),
                        MemoryReservations.unlimited(),
                        devices.group(),
                        null);
        for (int from = 0; from < ROWS; from += CHUNK_ROWS) {
            engine.submitBuild(0, chunk(0, from, from + CHUNK_ROWS));
        }
        engine.finishBuild();
        return engine;
    }

    private static List<Long> values(ResultBatch batch) {
        List<Long> values = new ArrayList<>();
        for (int row = 0; row < batch.rowCount(); row++) {
            values.add(batch.getLong(0, 0, row));
        }
        return values;
    }

    @ParameterizedTest
    @EnumSource
    void shouldReturnResultsInTheOrderOfFactsThatTwoDevicesJoin(TableSpread spread) {
        List<Long> values;
        long[] steps = new long[2];
        try (GpuJoinEngine engine = engine(spread)) {
            values = join(engine);
            for (int member = 0; member < 2; member++) {
                steps[member] = devices.steps(member);
            }
        }

        assertThat(values).isEqualTo(tripled(ROWS));
        assertThat(steps[0]).as("steps of the first device").isPositive();
        assertThat(steps[1]).as("steps of the second device").isPositive();
    }

    @Test
    void shouldCopyAllBuildRowsToDevicesWithoutAccessToEachOther() throws Exception {
        close();
        devices = HostDevice.open(options(TableSpread.SHARDED).withPeerAccess(false));

        try (GpuJoinEngine engine = engine(TableSpread.SHARDED)) {
            // Every device has a slot twice for each row: no table is sharded.
            assertThat(engine.stats().tableBytes()).isEqualTo(2L * 2 * 24 * ROWS);
            engine.submitProbe(chunk(ChunkDescriptor.FACTS, 0, 100), 0);
            engine.submitProbe(chunk(ChunkDescriptor.FACTS, 100, 200), 0);
            List<Long> values = new ArrayList<>();
            while (engine.inFlightCount() > 0) {
                poll(engine, values);
            }
            assertThat(values)
                    .isEqualTo(LongStream.range(0, 200).mapToObj(key -> 3 * key).toList());
        }
    }

    private static List<Long> tripled(int rows) {
        return LongStream.range(0, rows).mapToObj(key -> 3 * key).toList();
    }

    /** Returns the values of the first dimension. */
    private static List<Long> join(GpuJoinEngine engine) {
        List<Long> values = new ArrayList<>();
        for (int from = 0; from < ROWS; from += CHUNK_ROWS) {
            Chunk facts = chunk(ChunkDescriptor.FACTS, from, from + CHUNK_ROWS);
            while (!engine.submitProbe(facts, 0)) {
                poll(engine, values);
            }
        }
        while (engine.inFlightCount() > 0) {
            poll(engine, values);
        }
        return values;
    }

    private static void poll(GpuJoinEngine engine, List<Long> values) {
        ResultBatch batch = engine.poll();
        if (batch != null) {
            values.addAll(values(batch));
        }
    }

    /** A whole table takes 2 * 24 bytes a row on each device, a shard half of that. */
    @Test
    void shouldShardATableWithoutMemoryForAWholeOne() {
        long replicatedBytes;
        try (GpuJoinEngine engine = engine(TableSpread.REPLICATED)) {
            replicatedBytes = engine.stats().tableBytes();
        }
        try (GpuJoinEngine engine = engine(TableSpread.SHARDED)) {
            assertThat(engine.stats().tableBytes()).isLessThan(replicatedBytes * 6 / 10);
        }
    }

    @ParameterizedTest(name = "peer access: {0}")
    @ValueSource(booleans = {false, true})
    void shouldJoinFactsOfPlacedTableOnItsDeviceAlone(boolean hasPeerAccess) throws Exception {
        close();
        devices = HostDevice.open(options(TableSpread.BY_SIZE).withPeerAccess(hasPeerAccess));
        try (GpuJoinEngine shared = engine(JOIN_OF_TWO, TableSpread.BY_SIZE);
                GpuJoinEngine placed = shared.forkLoading(1, 1)) {
            TableMemory before = shared.tableMemory();
            for (int from = 0; from < ROWS; from += CHUNK_ROWS) {
                placed.submitBuild(1, chunk(1, from, from + CHUNK_ROWS));
            }
            placed.finishBuild();
            TableMemory after = shared.tableMemory();

            assertThat(before.canPlace()).isTrue();
            assertThat(before.canShard()).isEqualTo(hasPeerAccess);
            assertThat(after.availableBytes().get(0)).isEqualTo(before.availableBytes().get(0));
            assertThat(before.availableBytes().get(1) - after.availableBytes().get(1))
                    .isGreaterThanOrEqualTo(placed.stats().tableBytes());
            assertThat(join(placed)).isEqualTo(tripled(ROWS));
            assertThat(devices.steps(0)).isZero();
            assertThat(devices.steps(1)).isPositive();
        }
    }

    /** Tables of a dimension that is sharded are looked up in the memory of both devices. */
    @Test
    void shouldShareShardsWithTableOnOneDevice() {
        long usedBytes = devices.usedBytes();
        GpuJoinEngine shared = engine(JOIN_OF_TWO, TableSpread.SHARDED);
        assertThat(shared.isSharded(0)).isTrue();
        GpuJoinEngine placed = shared.forkLoading(1, 0);
        placed.submitBuild(1, chunk(1, 0, ROWS));
        placed.finishBuild();
        shared.close();

        assertThat(join(placed)).isEqualTo(tripled(ROWS));
        placed.close();
        assertThat(devices.usedBytes()).isEqualTo(usedBytes);
    }

    @ParameterizedTest(name = "table on {0}, lost {1}, peer access: {2}")
    @CsvSource({"0, 1, false", "1, 1, false", "0, 1, true", "1, 0, true", "0, 0, true"})
    void shouldFreeHealthyDeviceOfPlacedTableIfOneIsLost(
            int member, int lost, boolean hasPeerAccess) throws Exception {
        close();
        devices = HostDevice.open(options(TableSpread.BY_SIZE).withPeerAccess(hasPeerAccess));
        DeviceLease healthy = devices.group().members().get(1 - lost);
        long usedBytes = healthy.memory().use().deviceBytes();
        GpuJoinEngine shared = engine(JOIN_OF_TWO, TableSpread.BY_SIZE);
        GpuJoinEngine placed = shared.forkLoading(1, member);
        placed.submitBuild(1, chunk(1, 0, ROWS));
        placed.finishBuild();
        devices.loseDevice(lost);
        shared.close();
        placed.close();

        assertThat(healthy.isLost()).isFalse();
        assertThat(healthy.memory().use().deviceBytes()).isEqualTo(usedBytes);
    }

    /** Each fork alone fits both devices, but not with those of the other subtasks. */
    @Test
    void shouldShardTablesThatTheSubtasksTogetherCannotReplicate() {
        long deviceBytes = 64 << 20;
        try (GpuJoinEngine base = engine(new MemoryBudget(deviceBytes, deviceBytes), SPEC, ROWS)) {
            long replicatedBytes = forkedBytes(base);
            base.expect(share(deviceBytes / TABLE_ROW_BYTES));
            assertThat(forkedBytes(base)).as("all fit").isEqualTo(replicatedBytes);

            base.expect(share(deviceBytes / TABLE_ROW_BYTES + 1));

            assertThat(forkedBytes(base)).as("one row too many").isEqualTo(replicatedBytes / 2);
        }
    }

    private static BuildShare share(long processRows) {
        Histogram rows = new Histogram(1);
        rows.add(0, ROWS);
        return new BuildShare(rows, 16 * ROWS, processRows, 16 * processRows);
    }

    private static long forkedBytes(GpuJoinEngine base) {
        try (GpuJoinEngine fork = base.forkLoading(0)) {
            fork.submitBuild(0, chunk(0, 0, ROWS));
            fork.finishBuild();
            return fork.stats().tableBytes();
        }
    }

    /** The large table would fit whole, but leave no room for the small one. */
    @Test
    void shouldShardTheLargeTableSoThatTheSmallOneFits() {
        int large = 100_000;
        int small = 50_000;
        // A run of build rows of each dimension, and the large table.
        long deviceBytes = (2 << 20) + TABLE_ROW_BYTES * large + (128 << 10);
        MemoryBudget budget = new MemoryBudget(deviceBytes, 64 << 20);
        try (GpuJoinEngine engine = engine(budget, JOIN_OF_TWO, large, small)) {
            assertThat(engine.stats().tableBytes())
                    .isEqualTo(TABLE_ROW_BYTES * (large + 2 * small));
        }
    }

    /** Returns an engine with keys from 0 in each dimension. */
    private GpuJoinEngine engine(MemoryBudget budget, JoinSpec spec, int... rows) {
        devices.group().retain();
        GpuJoinEngine engine =
                new GpuJoinEngine(
                        spec,
                        options(TableSpread.BY_SIZE).withMemory(budget),
                        MemoryReservations.unlimited(),
                        devices.group(),
                        null);
        for (int d = 0; d < rows.length; d++) {
            for (int from = 0; from < rows[d]; from += CHUNK_ROWS) {
                engine.submitBuild(d, chunk(d, from, from + CHUNK_ROWS));
            }
        }
        engine.finishBuild();
        return engine;
    }

    /** Its steps on the other device are awaited before their memory is freed. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldServeAnotherEngineAfterADeviceOfAGroupIsLost(int lost) {
        DeviceLease healthy = devices.group().members().get(1 - lost);
        healthy.retain();
        GpuOptions alone = options(TableSpread.BY_SIZE).withDevice(1 - lost);
        try (GpuJoinEngine other = new GpuJoinEngine(SPEC, alone, healthy)) {
            other.submitBuild(0, chunk(0, 0, CHUNK_ROWS));
            other.finishBuild();
            GpuJoinEngine engine = engine(TableSpread.SHARDED);
            for (int from = 0; from < 4 * CHUNK_ROWS; from += CHUNK_ROWS) {
                engine.submitProbe(chunk(ChunkDescriptor.FACTS, from, from + CHUNK_ROWS), 0);
            }
            devices.loseDevice(lost);
            assertThatExceptionOfType(GpuUnavailableException.class).isThrownBy(engine::fork);
            engine.close();

            List<Long> values = new ArrayList<>();
            for (int round = 0; round < 3; round++) {
                other.submitProbe(chunk(ChunkDescriptor.FACTS, 0, CHUNK_ROWS), 0);
                while (other.inFlightCount() > 0) {
                    poll(other, values);
                }
            }
            assertThat(values).hasSize(3 * CHUNK_ROWS);
        }
    }

    /** The other device keeps working, and all of its memory is freed. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldFailTheEngineButNotTheOtherDeviceIfOneIsLost(int lost) {
        DeviceLease healthy = devices.group().members().get(1 - lost);
        long usedBytes = healthy.memory().use().deviceBytes();
        GpuJoinEngine engine = engine(TableSpread.SHARDED);
        Chunk facts = chunk(ChunkDescriptor.FACTS, 0, CHUNK_ROWS);
        engine.submitProbe(facts, 0);
        devices.loseDevice(lost);

        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(engine::fork)
                .withMessageContaining("told to be lost");
        assertThat(engine.snapshot()).hasSize(1);
        engine.close();

        assertThat(engine.state()).isEqualTo(EngineState.CLOSED);
        assertThat(devices.group().members().get(lost).isLost()).isTrue();
        assertThat(healthy.isLost()).isFalse();
        assertThat(healthy.memory().use().deviceBytes()).isEqualTo(usedBytes);
    }

    /** The second loss is noticed only while the memory of the others is freed. */
    @Test
    void shouldFreeTheMemoryOfTheDeviceThatIsLeftIfTwoAreLost() throws Exception {
        GpuOptions three = options(TableSpread.SHARDED).withDevices(List.of(0, 1, 2));
        for (int healthy = 0; healthy < 3; healthy++) {
            HostDevice triple = HostDevice.open(three);
            long freeBytes = triple.usedBytes(healthy);
            triple.group().retain();
            GpuJoinEngine engine =
                    new GpuJoinEngine(
                            SPEC, three, MemoryReservations.unlimited(), triple.group(), null);
            engine.submitBuild(0, chunk(0, 0, CHUNK_ROWS));
            engine.finishBuild();
            for (int member = 0; member < 3; member++) {
                if (member != healthy) {
                    triple.loseDevice(member);
                }
            }
            assertThatExceptionOfType(GpuUnavailableException.class).isThrownBy(engine::fork);
            engine.close();
            assertThat(triple.usedBytes(healthy)).isEqualTo(freeBytes);
            triple.close();
            triple.endProcess();
        }
    }

    @ParameterizedTest(name = "lost: {0}, before facts: {1}")
    @CsvSource({"0, true", "1, true", "2, true", "0, false", "1, false", "2, false"})
    void shouldFreeTwoHealthyDevicesIfTheThirdIsLost(int lost, boolean beforeFacts)
            throws Exception {
        GpuOptions three = options(TableSpread.SHARDED).withDevices(List.of(0, 1, 2));
        HostDevice triple = HostDevice.open(three);
        JoinEngine engine = triple.create(SPEC);
        engine.submitBuild(0, chunk(0, 0, CHUNK_ROWS));
        engine.finishBuild();
        Chunk facts = chunk(ChunkDescriptor.FACTS, 0, 100);
        if (beforeFacts) {
            triple.loseDevice(lost);
        }
        engine.submitProbe(facts, 0);
        while (engine.inFlightCount() > 0) {
            engine.poll();
        }
        triple.loseDevice(lost);
        engine.close();
        triple.close();

        for (int member = 0; member < 3; member++) {
            assertThat(triple.usedBytes(member) == 0)
                    .as("device %d is freed", member)
                    .isEqualTo(member != lost);
        }
        triple.endProcess();
    }

    /** Both lock the devices in the same order. */
    @Test
    void shouldCloseADeviceWhileKernelsOfALinkedOneStop() throws Exception {
        for (int round = 0; round < 300; round++) {
            HostDevice pair = HostDevice.open(options(TableSpread.BY_SIZE));
            DeviceLease second = pair.group().members().get(1);
            second.retain();
            AtomicBoolean isClosed = new AtomicBoolean();
            CompletableFuture<Void> stopping =
                    CompletableFuture.runAsync(
                            () -> {
                                while (!isClosed.get()) {
                                    second.whileStopped(STOP_TIMEOUT_NS, () -> {});
                                }
                            });
            CompletableFuture.runAsync(pair::close).get(10, TimeUnit.SECONDS);
            isClosed.set(true);
            stopping.get(10, TimeUnit.SECONDS);
            second.whileStopped(STOP_TIMEOUT_NS, () -> {});
            second.release();
        }
    }
}
