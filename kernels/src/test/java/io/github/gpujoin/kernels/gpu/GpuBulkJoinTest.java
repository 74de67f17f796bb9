// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.bulk.BulkAlgorithm;
import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.testing.BulkAnswer;
import io.github.gpujoin.core.bulk.testing.BulkRun;
import io.github.gpujoin.core.bulk.testing.KeyShape;
import io.github.gpujoin.core.bulk.testing.NestedLoopBulkJoin;
import io.github.gpujoin.core.bulk.testing.RandomBulkData;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceBulkJoin;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures of a bulk join on a GPU, on a device that the CPU emulates. */
@ExtendWith(RegionLeakExtension.class)
class GpuBulkJoinTest {

    private static final ChunkSchema TEXT_KEY =
            ChunkSchema.of(Column.of("key", ColumnType.STRING), Column.of("row", ColumnType.INT32));

    /** Joins, and returns the device. A join that fails has thrown what its contract says. */
    private static void joinOn(HostBulkDevice device, RandomBulkData data, boolean mayFail)
            throws Exception {
        long openBefore = Buffers.openCount();
        try (BulkJoin join =
                new GpuBulkJoin(data.spec(), device.open(GpuOptions.defaults()), null)) {
            BulkAnswer answer = BulkRun.join(join, data.left(), data.right(), 1);
            assertThat(answer)
                    .isEqualTo(NestedLoopBulkJoin.join(data.spec(), data.left(), data.right()));
        } catch (EngineUnavailableException e) {
            assertThat(mayFail).as("%s", e).isTrue();
        } finally {
            device.endProcess();
        }
        assertThat(Buffers.openCount()).isEqualTo(openBefore);
    }

    private static RandomBulkData data(BulkJoinKind kind, KeyShape keys) {
        return RandomBulkData.small(3, kind, keys, RandomBulkData.Output.ROWS);
    }

    /** Exact words and hashes. */
    static Stream<Arguments> kindsOfKeys() {
        return Arrays.stream(BulkJoinKind.values())
                .flatMap(
                        kind ->
                                Stream.of(KeyShape.NULLABLE_INT, KeyShape.NULLABLE_TEXTS)
                                        .map(keys -> Arguments.of(kind, keys)));
    }

    @ParameterizedTest(name = "{0}, keys {1}")
    @MethodSource("kindsOfKeys")
    void shouldFailCleanlyAtEachDriverCall(BulkJoinKind kind, KeyShape keys) throws Exception {
        HostBulkDevice healthy = new HostBulkDevice();
        joinOn(healthy, data(kind, keys), false);
        for (int call = 0; call < healthy.calls(); call++) {
            HostBulkDevice device = new HostBulkDevice();
            device.failAfter(call);
            joinOn(device, data(kind, keys), true);
        }
    }

    @ParameterizedTest(name = "{0}, keys {1}")
    @MethodSource("kindsOfKeys")
    void shouldFailCleanlyAtEachAllocation(BulkJoinKind kind, KeyShape keys) throws Exception {
        HostBulkDevice healthy = new HostBulkDevice();
        joinOn(healthy, data(kind, keys), false);
        for (int allocation = 0; allocation < healthy.allocations(); allocation++) {
            HostBulkDevice device = new HostBulkDevice();
            device.refuseAllocationsAfter(allocation);
            joinOn(device, data(kind, keys), true);
            assertThat(device.usedBytes()).isZero();
        }
    }

    /** 99 KiB: compute capabilities 8.6, 8.9 and 12.0. */
    @Test
    void shouldRefuseADeviceWithLittleSharedMemory() {
        HostBulkDevice device = new HostBulkDevice();
        device.hasBlockSharedBytes(99 << 10);
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(() -> device.open(GpuOptions.defaults()))
                .withMessageContaining("bytes=101376, neededBytes=166912")
                .satisfies(e -> assertThat(e.failure()).isEqualTo(GpuFailure.NO_KERNEL_IMAGE));
        assertThat(device.usedBytes()).isZero();
    }

    static Stream<Arguments> severalRuns() {
        return Arrays.stream(BulkJoinKind.values())
                .flatMap(
                        kind ->
                                Stream.of(ColumnType.INT32, ColumnType.INT64, ColumnType.STRING)
                                        .map(type -> Arguments.of(kind, type)));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("severalRuns")
    void shouldJoinInputsOfSeveralRuns(BulkJoinKind kind, ColumnType key) throws Exception {
        List<Chunk> left = manyRows(key, 2 * BulkRunLayout.RUN_ROWS + 4_711, 5);
        List<Chunk> right = manyRows(key, BulkRunLayout.RUN_ROWS, 3);
        ChunkSchema schema = left.get(0).schema();
        List<Integer> rightColumns = kind.returns(JoinSide.RIGHT) ? List.of(1, 2) : List.of();
        BulkJoinSpec spec =
                new BulkJoinSpec(
                        new BulkInput("l", schema, List.of(0)),
                        new BulkInput("r", schema, List.of(0)),
                        kind,
                        false,
                        new BulkOutput.Rows(List.of(2, 0), rightColumns));
        BulkAnswer expected;
        try (BulkJoin reference = new ReferenceBulkJoin(spec)) {
            expected = BulkRun.join(reference, left, right, 1);
        }
        try (BulkJoin join =
                new GpuBulkJoin(spec, new HostBulkDevice().open(GpuOptions.defaults()), null)) {
            assertThat(BulkRun.join(join, left, right, 1)).isEqualTo(expected);
        }
    }

    /** Keys are multiples of a factor, and a few are null. */
    private static List<Chunk> manyRows(ColumnType key, int rows, int factor) {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.nullable("key", key),
                        Column.of("row", ColumnType.INT32),
                        Column.of("text", ColumnType.STRING));
        List<Chunk> chunks = new ArrayList<>();
        for (int from = 0; from < rows; from += 10_000) {
            Object[][] values = new Object[Math.min(rows - from, 10_000)][];
            for (int i = 0; i < values.length; i++) {
                int row = from + i;
                Object value = key == ColumnType.STRING ? "key " + factor * row : factor * row;
                values[i] = new Object[] {row % 1_000 == 7 ? null : value, row, "row " + row % 100};
            }
            chunks.add(TestChunks.of(schema, values));
        }
        return chunks;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldMergeInputsInTheOrderOfTheirKeys(boolean hasManyPairs) throws Exception {
        ChunkSchema schema = manyRows(ColumnType.INT64, 1, 1).get(0).schema();
        BulkJoinSpec spec =
                new BulkJoinSpec(
                        new BulkInput("l", schema, List.of(0)),
                        new BulkInput("r", schema, List.of(0)),
                        BulkJoinKind.INNER,
                        false,
                        new BulkOutput.Rows(List.of(1), List.of(0, 2)));
        // 700 * 700 pairs of one key exceed the memory, and are found by the radix join
        int rows = hasManyPairs ? 700 : 60_000;
        List<Chunk> chunks = manyRows(ColumnType.INT64, rows, hasManyPairs ? 0 : 3);
        BulkAnswer expected;
        try (BulkJoin reference = new ReferenceBulkJoin(spec)) {
            expected = BulkRun.join(reference, chunks, chunks, 1);
        }
        HostBulkDevice device = new HostBulkDevice();
        try (BulkJoin join = new GpuBulkJoin(spec, device.open(GpuOptions.defaults()), null)) {
            assertThat(BulkRun.join(join, chunks, chunks, 1)).isEqualTo(expected);
            assertThat(join.plan().algorithm())
                    .isEqualTo(hasManyPairs ? BulkAlgorithm.GPU_RADIX : BulkAlgorithm.GPU_MERGE);
            assertThat(join.plan().reason()).contains("in the order of their keys");
        }
        assertThat(device.usedBytes()).isZero();
        assertThat(device.launched("sort_merge_merge_tiles")).isTrue();
        assertThat(device.launched("resident_join")).isEqualTo(hasManyPairs);
    }

    @Test
    void shouldHoldOneResultAtATime() throws Exception {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("key", ColumnType.INT64), Column.of("text", ColumnType.STRING));
        BulkJoinSpec spec =
                new BulkJoinSpec(
                        new BulkInput("l", schema, List.of(0)),
                        new BulkInput("r", schema, List.of(0)),
                        BulkJoinKind.INNER,
                        false,
                        new BulkOutput.Rows(List.of(1), List.of(0)));
        String text = "x".repeat(10_000);
        List<Object[]> rows = new ArrayList<>();
        for (long i = 0; i < 1_000; i++) {
            rows.add(new Object[] {i % 10, text});
        }
        List<Chunk> chunks = List.of(TestChunks.of(schema, rows.toArray(new Object[0][])));
        try (GpuBulkJoin join =
                new GpuBulkJoin(spec, new HostBulkDevice().open(GpuOptions.defaults()), null)) {
            BulkRun.submit(join, chunks, chunks, 1);
            join.finish();
            long rowCount = 0;
            for (int i = 0; i < 20; i++) {
                rowCount += ((BulkResult.Rows) join.poll(0)).chunk().rowCount();
                assertThat(join.waitingResults()).isLessThanOrEqualTo(1);
            }
            assertThat(rowCount).isLessThan(20 * 200);
        }
    }

    private static BulkJoinSpec textKeys() {
        return new BulkJoinSpec(
                new BulkInput("l", TEXT_KEY, List.of(0)),
                new BulkInput("r", TEXT_KEY, List.of(0)),
                BulkJoinKind.FULL,
                false,
                new BulkOutput.Rows(List.of(1), List.of(1)));
    }

    /** Texts that differ in their last characters, which are digits. */
    private static Chunk longTexts(int lengthBytes, int rows) {
        Object[][] values = new Object[rows][];
        for (int row = 0; row < rows; row++) {
            String digits = Integer.toString(1_000_000 + row);
            values[row] = new Object[] {"x".repeat(lengthBytes - digits.length()) + digits, row};
        }
        return TestChunks.of(TEXT_KEY, values);
    }

    /** A pinned buffer of key bytes has 1 MiB at first. */
    @Test
    void shouldJoinKeysThatExceedAPinnedBuffer() throws Exception {
        BulkJoinSpec spec = textKeys();
        List<Chunk> left = List.of(longTexts(40, 3), longTexts(3 << 20, 2), longTexts(1 << 20, 2));
        List<Chunk> right = List.of(longTexts(3 << 20, 3), longTexts(40, 2), longTexts(5 << 20, 1));
        HostBulkDevice device = new HostBulkDevice();
        try (BulkJoin join = new GpuBulkJoin(spec, device.open(GpuOptions.defaults()), null)) {
            assertThat(BulkRun.join(join, left, right, 1))
                    .isEqualTo(NestedLoopBulkJoin.join(spec, left, right));
        }
        assertThat(device.usedBytes()).isZero();
    }

    @Test
    void shouldLeaveADeviceThatRefusesMemoryForKeyBytes() throws Exception {
        BulkJoinSpec spec = textKeys();
        List<Chunk> left = List.of(longTexts(10_000, 50), longTexts(9_000, 50));
        List<Chunk> right = List.of(longTexts(10_000, 60), longTexts(9_000, 10));
        HostBulkDevice device = new HostBulkDevice();
        try (BulkJoin join = new GpuBulkJoin(spec, device.open(GpuOptions.defaults()), null)) {
            join.submit(JoinSide.LEFT, left.get(0));
            device.refuseNextDeviceAllocation();
            join.submit(JoinSide.LEFT, left.get(1));
            for (Chunk chunk : right) {
                join.submit(JoinSide.RIGHT, chunk);
            }
            join.finish();
            BulkAnswer answer = new BulkAnswer();
            join.drain(result -> answer.add(spec, result));
            assertThat(answer).isEqualTo(NestedLoopBulkJoin.join(spec, left, right));
            assertThat(join.plan().algorithm()).isEqualTo(BulkAlgorithm.GPU_OUT_OF_CORE);
        }
        assertThat(device.usedBytes()).isZero();
    }

    @Test
    void shouldFailIfKeyBytesExceedTheDevice() {
        GpuOptions options =
                GpuOptions.defaults()
                        .withMemory(new MemoryBudget(100 << 20, MemoryBudget.BY_MACHINE));
        HostBulkDevice device = new HostBulkDevice();
        Chunk chunk = longTexts(100_000, 20);
        try (BulkJoin join = new GpuBulkJoin(textKeys(), device.open(options), null)) {
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(
                            () -> {
                                for (int i = 0; i < 60; i++) {
                                    join.submit(JoinSide.LEFT, chunk);
                                }
                            })
                    .withMessageContaining("Key bytes of a bulk join exceed the device memory")
                    .satisfies(
                            e ->
                                    assertThat(e.failure())
                                            .isEqualTo(GpuFailure.OUT_OF_DEVICE_MEMORY));
        }
        assertThat(device.usedBytes()).isZero();
    }

    @Test
    void shouldStopWhenInterrupted() throws Exception {
        RandomBulkData data =
                RandomBulkData.large(
                        5, BulkJoinKind.INNER, KeyShape.LONG, RandomBulkData.Output.ROWS);
        try (BulkJoin join =
                new GpuBulkJoin(
                        data.spec(), new HostBulkDevice().open(GpuOptions.defaults()), null)) {
            BulkRun.submit(join, data.left(), data.right(), 1);
            join.finish();
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> join.poll(0));
            BulkAnswer answer = new BulkAnswer();
            join.drain(result -> answer.add(join.spec(), result));
            assertThat(join.stats().leftRows())
                    .isEqualTo(data.left().stream().mapToLong(c -> c.rowCount()).sum());
            assertThat(join.stats().resultRows()).isPositive();
        }
    }
}
