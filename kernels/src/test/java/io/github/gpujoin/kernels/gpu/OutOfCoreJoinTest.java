// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.testing.BulkAnswer;
import io.github.gpujoin.core.bulk.testing.BulkRun;
import io.github.gpujoin.core.bulk.testing.KeyShape;
import io.github.gpujoin.core.bulk.testing.NestedLoopBulkJoin;
import io.github.gpujoin.core.bulk.testing.RandomBulkData;
import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceBulkJoin;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Bulk joins beyond device memory, on a device that the CPU emulates. */
@ExtendWith(RegionLeakExtension.class)
class OutOfCoreJoinTest {

    @TempDir Path directory;

    private static GpuOptions withDeviceBytes(long bytes) {
        return GpuOptions.defaults().withMemory(new MemoryBudget(bytes, MemoryBudget.BY_MACHINE));
    }

    static Stream<Arguments> manyRuns() {
        return Stream.of(BulkJoinKind.values())
                .flatMap(
                        kind ->
                                Stream.of(false, true)
                                        .map(isSkewed -> Arguments.of(kind, isSkewed)));
    }

    /**
     * Partitions of several runs. If inputs are skewed, a partition has more than fits, most of
     * them with one key that has no match on the other side, or few.
     */
    @ParameterizedTest(name = "{0}, skewed {1}")
    @MethodSource("manyRuns")
    void shouldJoinManyRuns(BulkJoinKind kind, boolean isSkewed) throws Exception {
        List<Chunk> left =
                TestTuples.chunks(
                        isSkewed ? 400_000 : 250_000,
                        row -> isSkewed && row % 8 != 0 ? 7 : row * 3 % 1_000_003);
        List<Chunk> right =
                TestTuples.chunks(
                        isSkewed ? 300_000 : 200_000,
                        row -> isSkewed && row % 8 > 1 ? 8 : row == 9 ? 7 : row + 20);
        BulkJoinSpec spec =
                TestTuples.spec(
                        kind,
                        new BulkOutput.Rows(
                                List.of(0, 1),
                                kind.returns(JoinSide.RIGHT) ? List.of(1, 0) : List.of()));
        List<Long> expected;
        try (BulkJoin reference = new ReferenceBulkJoin(spec)) {
            expected = TestTuples.summary(reference, left, right);
        }
        HostBulkDevice device = new HostBulkDevice();
        try (GpuBulkJoin join =
                new GpuBulkJoin(spec, device.open(withDeviceBytes(22 << 20)), null)) {
            assertThat(TestTuples.summary(join, left, right)).isEqualTo(expected);
            assertThat(device.hasDivided()).isTrue();
        }
        assertThat(device.usedBytes()).isZero();
    }

    static Stream<Arguments> outputs() {
        BulkOutput groups =
                new BulkOutput.Groups(new Aggregation(List.of(), List.of(Aggregate.count())));
        return Stream.of(BulkJoinKind.values())
                .flatMap(
                        kind ->
                                Stream.of(
                                                TestTuples.rows(kind).output(),
                                                new BulkOutput.Count(),
                                                groups)
                                        .map(output -> Arguments.of(kind, output)));
    }

    /** Other joins have used the rest. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("outputs")
    void shouldJoinWithTheDeviceMemoryThatItHasReserved(BulkJoinKind kind, BulkOutput output)
            throws Exception {
        List<Chunk> left = TestTuples.chunks(130_000, row -> row * 3 % 100_003);
        List<Chunk> right = TestTuples.chunks(70_000, row -> row + 5_000);
        BulkJoinSpec spec = TestTuples.spec(kind, output);
        BulkAnswer expected;
        try (BulkJoin reference = new ReferenceBulkJoin(spec)) {
            expected = BulkRun.join(reference, left, right, 1);
        }
        HostBulkDevice device = new HostBulkDevice();
        try (GpuBulkJoin join =
                new GpuBulkJoin(spec, device.open(withDeviceBytes(100 << 20)), null)) {
            device.refuseDevice();
            assertThat(BulkRun.join(join, left, right, 1)).isEqualTo(expected);
            assertThat(device.hasDivided()).isTrue();
        }
        assertThat(device.usedBytes()).isZero();
    }

    private static RandomBulkData data(BulkJoinKind kind) {
        return RandomBulkData.small(3, kind, KeyShape.NULLABLE_INT, RandomBulkData.Output.ROWS);
    }

    /** Configures an open device. */
    @FunctionalInterface
    private interface Fault {
        void on(HostBulkDevice device);
    }

    /** Joins out of core. A join that fails has thrown what its contract says. */
    private void join(
            HostBulkDevice host,
            @Nullable Path files,
            RandomBulkData data,
            Fault fault,
            boolean mayFail)
            throws Exception {
        long openBefore = Buffers.openCount();
        fault.on(host);
        try {
            BulkDevices device = host.open(withDeviceBytes(48 << 20));
            try (BulkJoin join = new GpuBulkJoin(data.spec(), device, files)) {
                host.refuseNextDeviceAllocation();
                if (files != null) {
                    host.refusePinnedWhenDividing();
                }
                assertThat(BulkRun.join(join, data.left(), data.right(), 1))
                        .isEqualTo(NestedLoopBulkJoin.join(data.spec(), data.left(), data.right()));
                assertThat(host.hasDivided()).isTrue();
                assertThat(join.stats().spilledBytes() > 0).isEqualTo(files != null);
            }
        } catch (EngineUnavailableException e) {
            assertThat(mayFail).as("%s", e).isTrue();
        } finally {
            host.endProcess();
        }
        assertThat(Buffers.openCount()).isEqualTo(openBefore);
        assertThat(Files.list(directory)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"FULL", "SEMI"})
    void shouldFailCleanlyAtEachDriverCall(BulkJoinKind kind) throws Exception {
        for (Path files : new Path[] {null, directory}) {
            HostBulkDevice healthy = new HostBulkDevice();
            join(healthy, files, data(kind), device -> {}, false);
            for (int call = 0; call < healthy.calls(); call++) {
                int good = call;
                join(
                        new HostBulkDevice(),
                        files,
                        data(kind),
                        device -> device.failAfter(good),
                        true);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FULL", "SEMI"})
    void shouldFailCleanlyAtEachAllocation(BulkJoinKind kind) throws Exception {
        HostBulkDevice healthy = new HostBulkDevice();
        join(healthy, directory, data(kind), device -> {}, false);
        for (int allocation = 0; allocation < healthy.allocations(); allocation++) {
            int good = allocation;
            HostBulkDevice host = new HostBulkDevice();
            join(host, directory, data(kind), device -> device.refuseAllocationsAfter(good), true);
            assertThat(host.usedBytes()).isZero();
        }
    }

    @Test
    void shouldAskForADirectoryBeyondHostMemory() throws Exception {
        HostBulkDevice host = new HostBulkDevice();
        BulkDevices device = host.open(withDeviceBytes(48 << 20));
        RandomBulkData data = data(BulkJoinKind.INNER);
        try (BulkJoin join = new GpuBulkJoin(data.spec(), device, null)) {
            host.refuseNextDeviceAllocation();
            host.refusePinnedWhenDividing();
            assertThatExceptionOfType(EngineUnavailableException.class)
                    .isThrownBy(() -> BulkRun.join(join, data.left(), data.right(), 1))
                    .withMessageContaining("Name a directory")
                    .satisfies(
                            e ->
                                    assertThat(e.scope())
                                            .isEqualTo(EngineUnavailableException.Scope.NO_MEMORY));
        }
        assertThat(host.usedBytes()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"FULL", "SEMI"})
    void shouldLoseNoResultWhenInterrupted(BulkJoinKind kind) throws Exception {
        RandomBulkData data =
                RandomBulkData.small(5, kind, KeyShape.LONG, RandomBulkData.Output.ROWS);
        HostBulkDevice host = new HostBulkDevice();
        BulkDevices device = host.open(withDeviceBytes(48 << 20));
        try (BulkJoin join = new GpuBulkJoin(data.spec(), device, directory)) {
            host.refuseNextDeviceAllocation();
            host.refusePinnedWhenDividing();
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
}
