// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static io.github.gpujoin.kernels.gpu.BulkRunLayout.RUN_ROWS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.bulk.BulkAlgorithm;
import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.testing.BulkAnswer;
import io.github.gpujoin.core.bulk.testing.BulkRun;
import io.github.gpujoin.core.bulk.testing.KeyShape;
import io.github.gpujoin.core.bulk.testing.NestedLoopBulkJoin;
import io.github.gpujoin.core.bulk.testing.RandomBulkData;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bulk joins of a group of devices, which the CPU emulates. */
@ExtendWith(RegionLeakExtension.class)
class GroupBulkJoinTest {

    private static final long NEVER_REPLICATED = -1;

    /** With larger areas of runs, the emulated devices would mostly fill their memory. */
    private static final GpuOptions SMALL_AREAS =
            GpuOptions.defaults().withMemory(new MemoryBudget(256 << 20, MemoryBudget.BY_MACHINE));

    /** Several runs for each device. */
    private static final List<Chunk> LEFT_RUNS =
            TestTuples.chunks(160_000, row -> row * 3 % 1_000_003);

    private static final List<Chunk> RIGHT_RUNS = TestTuples.chunks(110_000, row -> row + 20);

    /** Summaries of the joins of these runs. */
    private static final Map<BulkJoinKind, List<Long>> EXPECTED = new EnumMap<>(BulkJoinKind.class);

    private final HostBulkDevice first = new HostBulkDevice();
    private final HostBulkDevice second = new HostBulkDevice();

    private GpuBulkJoin open(BulkJoinSpec spec, GpuOptions options, long replicatedRows) {
        return new GpuBulkJoin(
                spec, HostBulkDevice.group(options, first, second), null, replicatedRows);
    }

    private GpuBulkJoin open(BulkJoinSpec spec, long replicatedRows) {
        return open(spec, GpuOptions.defaults(), replicatedRows);
    }

    private void assertNothingIsLeft() {
        assertThat(first.usedBytes() + second.usedBytes()).isZero();
    }

    // ------------------------------------------------------------------ distribution

    /**
     * No row is exchanged, all are, or those that were loaded before no input was small any more.
     */
    static Stream<Arguments> distributions() {
        return Stream.of(BulkJoinKind.values())
                .flatMap(
                        kind ->
                                Stream.of(NEVER_REPLICATED, 2L * RUN_ROWS, 1L << 30)
                                        .map(rows -> Arguments.of(kind, rows)));
    }

    private static List<Long> expectedOfRuns(BulkJoinSpec spec) throws InterruptedException {
        if (!EXPECTED.containsKey(spec.kind())) {
            EXPECTED.put(spec.kind(), TestTuples.expected(spec, LEFT_RUNS, RIGHT_RUNS));
        }
        return EXPECTED.get(spec.kind());
    }

    @ParameterizedTest(name = "{0}, up to {1} replicated rows")
    @MethodSource("distributions")
    void shouldJoinManyRuns(BulkJoinKind kind, long replicatedRows) throws Exception {
        BulkJoinSpec spec = TestTuples.rows(kind);
        try (GpuBulkJoin join = open(spec, replicatedRows)) {
            assertThat(TestTuples.summary(join, LEFT_RUNS, RIGHT_RUNS))
                    .isEqualTo(expectedOfRuns(spec));
            boolean isReplicated = replicatedRows == 1L << 30 && kind != BulkJoinKind.FULL;
            assertThat(join.plan().algorithm())
                    .isEqualTo(
                            isReplicated
                                    ? BulkAlgorithm.GPU_REPLICATED
                                    : BulkAlgorithm.GPU_REPARTITIONED);
            assertThat(first.launched("resident_")).isTrue();
            assertThat(second.launched("resident_")).isTrue();
        }
        assertNothingIsLeft();
    }

    /** Each run is exchanged by the only run of an area, and the last ones by the end of inputs. */
    @Test
    void shouldExchangeRunsThatWereLoadedBefore() throws Exception {
        List<Chunk> left = TestTuples.chunks(5 * RUN_ROWS + 7, row -> row);
        List<Chunk> right = TestTuples.chunks(9 * RUN_ROWS + 1, row -> row / 2);
        BulkJoinSpec spec = TestTuples.rows(BulkJoinKind.FULL);
        try (BulkJoin join = open(spec, NEVER_REPLICATED)) {
            // in the other order, so that the smaller input ends last
            BulkRun.submit(join, List.of(), right, 1);
            assertThat(TestTuples.summary(join, left, List.of()))
                    .isEqualTo(TestTuples.expected(spec, left, right));
        }
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(longs = {NEVER_REPLICATED, 1 << 30})
    void shouldLoadEachDeviceByAThreadOfItsOwn(long replicatedRows) throws Exception {
        List<Chunk> chunks = TestTuples.chunks(12 * RUN_ROWS, row -> row);
        BulkJoinSpec spec = TestTuples.spec(BulkJoinKind.INNER, new BulkOutput.Count());
        try (GpuBulkJoin join = open(spec, replicatedRows)) {
            BulkRun.submit(join, chunks, chunks, 1);
            join.finish();
            assertThat(join.waitedNs(BulkWait.COPY_CALLS)).isPositive();
        }
        assertThat(first.copyThreads()).isNotEmpty().containsOnly("gpu-bulk-load-0");
        assertThat(second.copyThreads()).isNotEmpty().containsOnly("gpu-bulk-load-1");
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @EnumSource(BulkJoinKind.class)
    void shouldJoinIfAllRowsHaveOneKey(BulkJoinKind kind) throws Exception {
        shouldJoinSkewed(kind, row -> 42, row -> row == 5 ? 42 : 42L + (row % 2 << 40));
    }

    /** Four of five rows have a key of one device. */
    @ParameterizedTest
    @EnumSource(BulkJoinKind.class)
    void shouldJoinIfMostRowsHaveOneKey(BulkJoinKind kind) throws Exception {
        shouldJoinSkewed(kind, row -> row % 5 == 0 ? row : 7, row -> row % 5 == 0 ? row : 8);
    }

    private void shouldJoinSkewed(
            BulkJoinKind kind, LongUnaryOperator leftKeys, LongUnaryOperator rightKeys)
            throws Exception {
        List<Chunk> left = TestTuples.chunks(2 * RUN_ROWS, leftKeys);
        List<Chunk> right = TestTuples.chunks(40, rightKeys);
        BulkJoinSpec spec = TestTuples.rows(kind);
        try (BulkJoin join = open(spec, NEVER_REPLICATED)) {
            assertThat(TestTuples.summary(join, left, right))
                    .isEqualTo(TestTuples.expected(spec, left, right));
        }
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @EnumSource(BulkJoinKind.class)
    void shouldJoinEmptyInputs(BulkJoinKind kind) throws Exception {
        List<Chunk> some = TestTuples.chunks(100, row -> row);
        for (List<Chunk> left : List.of(some, List.<Chunk>of())) {
            for (List<Chunk> right : List.of(some, List.<Chunk>of())) {
                for (long replicatedRows : new long[] {NEVER_REPLICATED, 1 << 20}) {
                    BulkJoinSpec spec = TestTuples.rows(kind);
                    try (BulkJoin join = open(spec, replicatedRows)) {
                        assertThat(TestTuples.summary(join, left, right))
                                .isEqualTo(TestTuples.expected(spec, left, right));
                    }
                }
            }
        }
        assertNothingIsLeft();
    }

    @Test
    void shouldAddUpCountsOfAllDevices() throws Exception {
        List<Chunk> chunks = TestTuples.chunks(10_000, row -> row / 2);
        BulkJoinSpec spec = TestTuples.spec(BulkJoinKind.INNER, new BulkOutput.Count());
        try (BulkJoin join = open(spec, NEVER_REPLICATED)) {
            BulkRun.submit(join, chunks, chunks, 1);
            join.finish();
            BulkAnswer answer = new BulkAnswer();
            join.drain(result -> answer.add(spec, result));
            BulkAnswer expected = new BulkAnswer();
            expected.add(spec, new BulkResult.Count(20_000));
            assertThat(answer).isEqualTo(expected);
        }
    }

    // ------------------------------------------------------------------ memory

    private static GpuOptions withDeviceBytes(long bytes) {
        return GpuOptions.defaults().withMemory(new MemoryBudget(bytes, MemoryBudget.BY_MACHINE));
    }

    /**
     * Both devices have too many rows, or one of them because of a frequent key. Rows are exchanged
     * from the first one on, or once a device has no room for more.
     */
    @ParameterizedTest
    @EnumSource(names = {"INNER", "FULL", "SEMI"})
    void shouldJoinBeyondTheMemoryOfDevices(BulkJoinKind kind) throws Exception {
        for (int share : new int[] {1, 8}) {
            long replicatedRows = share == 1 ? 1 << 30 : NEVER_REPLICATED;
            List<Chunk> left =
                    TestTuples.chunks(500_000, row -> row % share != 0 ? 7 : row * 3 % 1_000_003);
            List<Chunk> right = TestTuples.chunks(200_000, row -> row + 20);
            BulkJoinSpec spec = TestTuples.rows(kind);
            try (GpuBulkJoin join = open(spec, withDeviceBytes(22 << 20), replicatedRows)) {
                assertThat(TestTuples.summary(join, left, right))
                        .isEqualTo(TestTuples.expected(spec, left, right));
                assertThat(join.plan().algorithm()).isEqualTo(BulkAlgorithm.GPU_REPARTITIONED);
                assertThat(join.plan().reason()).contains("exceed their memory");
            }
            assertNothingIsLeft();
        }
    }

    /** A device has room for a join beyond its memory, but not for an exchange in addition. */
    @Test
    void shouldJoinOnOneDeviceIfAGroupNeedsMoreMemory() throws Exception {
        List<Chunk> left = TestTuples.chunks(300_000, row -> row * 3 % 1_000_003);
        List<Chunk> right = TestTuples.chunks(200_000, row -> row + 20);
        BulkJoinSpec spec = TestTuples.rows(BulkJoinKind.FULL);
        try (GpuBulkJoin join = open(spec, withDeviceBytes(15 << 20), NEVER_REPLICATED)) {
            assertThat(second.usedBytes()).isZero();
            assertThat(TestTuples.summary(join, left, right))
                    .isEqualTo(TestTuples.expected(spec, left, right));
            assertThat(join.plan().toString())
                    .startsWith("gpu-out-of-core: One device joins, since a device of the group")
                    .contains("too little memory to exchange rows", "Raise the budget.");
        }
        assertNothingIsLeft();
    }

    @Test
    void shouldExchangeRowsIfADeviceHasNoRoomForTheSmallInput() throws Exception {
        List<Chunk> left = TestTuples.chunks(8 * RUN_ROWS, row -> row);
        List<Chunk> right = TestTuples.chunks(4 * RUN_ROWS, row -> row / 2);
        BulkJoinSpec spec = TestTuples.rows(BulkJoinKind.INNER);
        try (BulkJoin join = open(spec, 1 << 20)) {
            BulkRun.submit(join, left, right, 1);
            // the thread of the device may still allocate memory for rows that it loads
            second.refuseNextDeviceAllocationOf(Thread.currentThread());
            assertThat(TestTuples.summary(join, List.of(), List.of()))
                    .isEqualTo(TestTuples.expected(spec, left, right));
            assertThat(join.plan().toString())
                    .startsWith("gpu-repartitioned")
                    .contains("a device has no room for all rows of the smaller input");
        }
        assertNothingIsLeft();
    }

    /**
     * Refuses the slab of the left keys on one device, then that of the right ones on the other.
     */
    @Test
    void shouldExchangeRowsIfADeviceHasNoRoomForKeys() throws Exception {
        RandomBulkData data =
                RandomBulkData.small(
                        5, BulkJoinKind.LEFT, KeyShape.NULLABLE_TEXTS, RandomBulkData.Output.ROWS);
        try (BulkJoin join = open(data.spec(), SMALL_AREAS, 1 << 20)) {
            first.refuseNextDeviceAllocation();
            BulkRun.submit(join, data.left(), List.of(), 1);
            second.refuseNextDeviceAllocation();
            assertThat(BulkRun.join(join, List.of(), data.right(), 1))
                    .isEqualTo(NestedLoopBulkJoin.join(data.spec(), data.left(), data.right()));
            assertThat(join.plan().toString())
                    .startsWith("gpu-repartitioned")
                    .contains("a device has no room for further key bytes");
        }
        assertNothingIsLeft();
    }

    // ------------------------------------------------------------------ failure

    private static RandomBulkData data(BulkJoinKind kind, KeyShape keys) {
        return RandomBulkData.small(3, kind, keys, RandomBulkData.Output.ROWS);
    }

    /** Joins. A join that fails has thrown what its contract says. */
    private static void joinOn(
            HostBulkDevice first,
            HostBulkDevice second,
            RandomBulkData data,
            long replicatedRows,
            boolean mayFail)
            throws Exception {
        long openBefore = Buffers.openCount();
        try (BulkJoin join =
                new GpuBulkJoin(
                        data.spec(),
                        HostBulkDevice.group(SMALL_AREAS, first, second),
                        null,
                        replicatedRows)) {
            assertThat(BulkRun.join(join, data.left(), data.right(), 1))
                    .isEqualTo(NestedLoopBulkJoin.join(data.spec(), data.left(), data.right()));
        } catch (EngineUnavailableException e) {
            assertThat(mayFail).as("%s", e).isTrue();
        } finally {
            first.endProcess();
            second.endProcess();
        }
        assertThat(Buffers.openCount()).isEqualTo(openBefore);
    }

    static Stream<Arguments> failures() {
        return Stream.of(
                Arguments.of(BulkJoinKind.FULL, KeyShape.NULLABLE_INT, NEVER_REPLICATED),
                Arguments.of(BulkJoinKind.SEMI, KeyShape.NULLABLE_TEXTS, NEVER_REPLICATED),
                Arguments.of(BulkJoinKind.LEFT, KeyShape.NULLABLE_TEXTS, 1 << 20));
    }

    @ParameterizedTest(name = "{0}, keys {1}, up to {2} replicated rows")
    @MethodSource("failures")
    void shouldFailCleanlyAtEachDriverCall(BulkJoinKind kind, KeyShape keys, long replicatedRows)
            throws Exception {
        HostBulkDevice[] healthy = {new HostBulkDevice(), new HostBulkDevice()};
        joinOn(healthy[0], healthy[1], data(kind, keys), replicatedRows, false);
        for (int failing = 0; failing < 2; failing++) {
            for (int call = 0; call < healthy[failing].calls(); call++) {
                HostBulkDevice[] devices = {new HostBulkDevice(), new HostBulkDevice()};
                devices[failing].failAfter(call);
                joinOn(devices[0], devices[1], data(kind, keys), replicatedRows, true);
            }
        }
    }

    @ParameterizedTest(name = "{0}, keys {1}, up to {2} replicated rows")
    @MethodSource("failures")
    void shouldFailCleanlyAtEachAllocation(BulkJoinKind kind, KeyShape keys, long replicatedRows)
            throws Exception {
        HostBulkDevice[] healthy = {new HostBulkDevice(), new HostBulkDevice()};
        joinOn(healthy[0], healthy[1], data(kind, keys), replicatedRows, false);
        for (int failing = 0; failing < 2; failing++) {
            for (int good = 0; good < healthy[failing].allocations(); good++) {
                HostBulkDevice[] devices = {new HostBulkDevice(), new HostBulkDevice()};
                devices[failing].refuseAllocationsAfter(good);
                joinOn(devices[0], devices[1], data(kind, keys), replicatedRows, true);
                assertThat(devices[0].usedBytes() + devices[1].usedBytes()).isZero();
            }
        }
    }

    @Test
    void shouldReportTheFailureOfAnyDevice() throws Exception {
        List<Chunk> chunks = TestTuples.chunks(300_000, row -> row / 8);
        try (BulkJoin join = open(TestTuples.rows(BulkJoinKind.INNER), NEVER_REPLICATED)) {
            BulkRun.submit(join, chunks, chunks, 1);
            join.finish();
            // most batches are gathered only when results were polled
            second.failAfter(0);
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(() -> join.drain(result -> {}))
                    .satisfies(e -> assertThat(e.failure()).isEqualTo(GpuFailure.DEVICE_LOST));
        }
        assertThat(first.usedBytes()).isZero();
        second.endProcess();
    }

    @Test
    void shouldCloseWhileDevicesWaitForThePoller() throws Exception {
        List<Chunk> chunks = TestTuples.chunks(300_000, row -> row / 8);
        try (GpuBulkJoin join = open(TestTuples.rows(BulkJoinKind.INNER), NEVER_REPLICATED)) {
            BulkRun.submit(join, chunks, chunks, 1);
            join.finish();
            while (join.waitingResults() < 4) {
                Thread.sleep(1);
            }
            assertThat(join.poll(0)).isNotNull();
        }
        assertNothingIsLeft();
    }

    @Test
    void shouldCloseWhileLoading() throws Exception {
        List<Chunk> chunks = TestTuples.chunks(300_000, row -> row);
        try (BulkJoin join = open(TestTuples.rows(BulkJoinKind.INNER), NEVER_REPLICATED)) {
            BulkRun.submit(join, chunks, List.of(), 1);
        }
        assertNothingIsLeft();
    }

    @Test
    void shouldLoseNoResultWhenInterrupted() throws Exception {
        RandomBulkData data =
                RandomBulkData.small(
                        5, BulkJoinKind.FULL, KeyShape.LONG, RandomBulkData.Output.ROWS);
        try (BulkJoin join = open(data.spec(), NEVER_REPLICATED)) {
            BulkRun.submit(join, data.left(), data.right(), 1);
            join.finish();
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> join.poll(0));
            BulkAnswer answer = new BulkAnswer();
            join.drain(result -> answer.add(join.spec(), result));
            assertThat(answer)
                    .isEqualTo(NestedLoopBulkJoin.join(data.spec(), data.left(), data.right()));
        }
    }

    // ------------------------------------------------------------------ plans

    private String reason(BulkJoinKind kind, GpuOptions options, long replicatedRows)
            throws Exception {
        List<Chunk> left = TestTuples.chunks(1_000, row -> row);
        List<Chunk> right = TestTuples.chunks(100, row -> row);
        try (BulkJoin join = open(TestTuples.rows(kind), options, replicatedRows)) {
            TestTuples.summary(join, left, right);
            return join.plan().toString();
        }
    }

    @Test
    void shouldExplainHowTheGroupJoins() throws Exception {
        GpuOptions options = GpuOptions.defaults();
        assertThat(reason(BulkJoinKind.INNER, options, 100))
                .isEqualTo(
                        "gpu-replicated: The right input is small, so each device has all of its rows, and joins them with the rows that it loaded: devices=[0, 1], leftRows=1000, rightRows=100, maxReplicatedRows=100.");
        assertThat(reason(BulkJoinKind.INNER, options, 99))
                .startsWith(
                        "gpu-repartitioned: Each device joins the keys that it owns, since the smaller input exceeds 99 rows: devices=[0, 1], leftRows=1000, rightRows=100, mostRowsOfDevice=");
        assertThat(reason(BulkJoinKind.RIGHT, options, 100))
                .contains("since the left input exceeds 100 rows");
        assertThat(reason(BulkJoinKind.FULL, options, 100))
                .contains("since it returns rows of both inputs without a match");
    }

    @Test
    void shouldJoinOnOneDeviceWithoutPeerAccess() throws Exception {
        assertThat(
                        reason(
                                BulkJoinKind.INNER,
                                GpuOptions.defaults().withPeerAccess(false),
                                NEVER_REPLICATED))
                .startsWith("gpu-")
                .contains(
                        "One device joins, since the devices do not access each other's memory: devices=[0, 1]. ");
        assertThat(second.launched("resident_")).isFalse();
        assertNothingIsLeft();
    }
}
