// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static io.github.gpujoin.kernels.gpu.BulkRunLayout.RUN_ROWS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ChunkSlot;
import io.github.gpujoin.core.layout.ChunkSlots;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceBulkJoin;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.slot.SlotPool;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Loading and results of a bulk join by several threads, on a device that the CPU emulates. */
@ExtendWith(RegionLeakExtension.class)
class BulkLoadingTest {

    private static final ChunkSchema TUPLES =
            ChunkSchema.of(Column.of("key", ColumnType.INT64), Column.of("row", ColumnType.INT64));

    private static final BulkJoinSpec PAIRS =
            new BulkJoinSpec(
                    new BulkInput("l", TUPLES, List.of(0)),
                    new BulkInput("r", TUPLES, List.of(0)),
                    BulkJoinKind.INNER,
                    false,
                    new BulkOutput.Rows(List.of(0, 1), List.of(1)));

    private static List<Chunk> chunks(int rows, int chunkRows, LongUnaryOperator keys) {
        return chunks(rows, chunkRows, keys, ChunkSlots.NONE);
    }

    private static List<Chunk> chunks(
            int rows, int chunkRows, LongUnaryOperator keys, ChunkSlots slots) {
        List<Chunk> chunks = new ArrayList<>();
        for (int first = 0; first < rows; first += chunkRows) {
            ChunkBuilder builder = new ChunkBuilder(TUPLES, 16 * chunkRows, slots);
            for (int row = first; row < Math.min(rows, first + chunkRows); row++) {
                builder.putLong(0, keys.applyAsLong(row));
                builder.putLong(1, row);
                builder.endRow();
            }
            chunks.add(builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0));
        }
        return chunks;
    }

    private static GpuOptions withThreads(int threads) {
        return GpuOptions.defaults().withBulkThreads(threads);
    }

    private static void submit(GpuBulkJoin join, List<Chunk> left, List<Chunk> right)
            throws InterruptedException {
        for (Chunk chunk : left) {
            join.submit(JoinSide.LEFT, chunk);
        }
        for (Chunk chunk : right) {
            join.submit(JoinSide.RIGHT, chunk);
        }
        join.finish();
    }

    /** Small and large chunks, so that some rows are written by the thread of the join. */
    @ParameterizedTest
    @CsvSource({"0, 10000", "1, 70000", "3, 10000", "3, 1000", "3, 70000", "2, 344069"})
    void shouldReturnEachRowOnceWithAnyThreads(int threads, int chunkRows) throws Exception {
        int rows = 7 * RUN_ROWS + 5;
        List<Chunk> left = chunks(rows, chunkRows, row -> row * 3 % 1_000_003);
        HostBulkDevice host = new HostBulkDevice();
        boolean[] isFound = new boolean[rows];
        try (GpuBulkJoin join = new GpuBulkJoin(PAIRS, host.open(withThreads(threads)), null)) {
            submit(join, left, left);
            join.drain(
                    result -> {
                        Chunk chunk = ((BulkResult.Rows) result).chunk();
                        for (int i = 0; i < chunk.rowCount(); i++) {
                            int row = (int) chunk.getLong(1, i);
                            boolean isRight =
                                    !isFound[row]
                                            && chunk.getLong(0, i) == row * 3L % 1_000_003
                                            && chunk.getLong(2, i) == row;
                            assertThat(isRight).as("row %d", row).isTrue();
                            isFound[row] = true;
                        }
                    });
            assertThat(join.stats().resultRows()).isEqualTo(rows);
        }
        assertThat(host.usedBytes()).isZero();
    }

    /**
     * Threads write key records, and texts of results. Each chunk has rows of two runs and of
     * several buffers of keys, one of which exceeds a buffer.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldJoinHashedKeysThatThreadsWrite(boolean hasText) throws Exception {
        ChunkSchema schema =
                hasText
                        ? ChunkSchema.of(
                                Column.of("row", ColumnType.INT64),
                                Column.of("key", ColumnType.STRING),
                                Column.of("text", ColumnType.STRING))
                        : ChunkSchema.of(
                                Column.of("row", ColumnType.INT64),
                                Column.of("key", ColumnType.INT64),
                                Column.of("more", ColumnType.INT64));
        Object[][] rows = new Object[RUN_ROWS + 4711][];
        for (int row = 0; row < rows.length; row++) {
            String key = row == 30_000 ? "x".repeat(KeyArena.BUFFER_BYTES + 5) : "key " + row * 3;
            rows[row] =
                    hasText
                            ? new Object[] {(long) row, key, "text " + row % 1000}
                            : new Object[] {(long) row, row * 3L, row % 5L};
        }
        List<Chunk> inputs = List.of(TestChunks.of(schema, rows));
        List<Integer> keys = hasText ? List.of(1) : List.of(1, 2);
        BulkJoinSpec spec =
                new BulkJoinSpec(
                        new BulkInput("l", schema, keys),
                        new BulkInput("r", schema, keys),
                        BulkJoinKind.INNER,
                        false,
                        new BulkOutput.Rows(List.of(0), List.of(2, 0)));
        BulkAnswer expected;
        try (BulkJoin reference = new ReferenceBulkJoin(spec)) {
            expected = BulkRun.join(reference, inputs, inputs, 1);
        }
        HostBulkDevice host = new HostBulkDevice();
        try (GpuBulkJoin join = new GpuBulkJoin(spec, host.open(withThreads(3)), null)) {
            assertThat(BulkRun.join(join, inputs, inputs, 1)).isEqualTo(expected);
        }
        assertThat(host.usedBytes()).isZero();
    }

    /** A chunk has rows of seven runs, of which the join has two. */
    @Test
    void shouldLoadWithTheFirstPinnedRunsAlone() throws Exception {
        int rows = 7 * RUN_ROWS + 5;
        List<Chunk> inputs = chunks(rows, rows, row -> row);
        HostBulkDevice host = new HostBulkDevice();
        BulkJoinSpec counted =
                new BulkJoinSpec(
                        PAIRS.left(), PAIRS.right(), PAIRS.kind(), false, new BulkOutput.Count());
        try (GpuBulkJoin join = new GpuBulkJoin(counted, host.open(withThreads(3)), null)) {
            host.refusePinned();
            submit(join, inputs, inputs);
            join.drain(result -> assertThat(result).isEqualTo(new BulkResult.Count(rows)));
        }
    }

    /** The only row out of order is within a chunk, the first of a chunk, or the first of a run. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 30_000, 40_000, RUN_ROWS, 2 * RUN_ROWS, 2 * RUN_ROWS + 10})
    void shouldDetectOneRowOutOfOrder(int row) throws Exception {
        List<Chunk> inputs = chunks(2 * RUN_ROWS + 11, 20_000, key -> key == row ? key - 2 : key);
        HostBulkDevice host = new HostBulkDevice();
        try (GpuBulkJoin join = new GpuBulkJoin(PAIRS, host.open(withThreads(3)), null)) {
            submit(join, inputs, inputs);
            assertThat(join.plan().algorithm())
                    .isEqualTo(row < 0 ? BulkAlgorithm.GPU_MERGE : BulkAlgorithm.GPU_RADIX);
        }
    }

    @Test
    void shouldPassRunsInOrderThoughTheyAreWrittenInReverse() throws Exception {
        try (BulkDevices devices = new HostBulkDevice().open(withThreads(3))) {
            BulkDevice device = devices.first();
            StagedRuns runs = new StagedRuns(device, device.newMemory(), 1, 8 * RUN_ROWS);
            List<Long> passed = new ArrayList<>();
            RunStaging staging =
                    RunStaging.ofSingleRuns(
                            runs,
                            (run, rows) -> {
                                for (int row = 0; row < rows; row++) {
                                    passed.add(Memory.getLong(run + 8L * row));
                                }
                                return DeviceCopy.NONE;
                            });
            List<RunStaging.Claim> claims = new ArrayList<>();
            for (int rows = 3 * RUN_ROWS + 7; rows > 0; ) {
                claims.add(staging.claim(Math.min(20_000, rows)));
                rows -= claims.get(claims.size() - 1).rows();
            }
            assertThat(passed).isEmpty();
            long last = 3 * RUN_ROWS + 7;
            Collections.reverse(claims);
            for (RunStaging.Claim claim : claims) {
                for (int row = claim.rows() - 1; row >= 0; row--) {
                    Memory.putLong(claim.run().address() + 8L * (claim.first() + row), --last);
                }
                claim.written();
            }
            staging.finish();
            runs.passAll();
            assertThat(passed).isEqualTo(LongStream.range(0, 3 * RUN_ROWS + 7).boxed().toList());
        }
    }

    /**
     * Threads write runs in any order. A sink receives up to four at once, but not of two slabs.
     */
    @Test
    void shouldPassAdjacentRunsTogether() throws Exception {
        try (BulkDevices devices = new HostBulkDevice().open(withThreads(8))) {
            BulkDevice device = devices.first();
            int runBytes = 8 * RUN_ROWS;
            StagedRuns runs = new StagedRuns(device, device.newMemory(), 8, runBytes);
            List<Integer> passed = new ArrayList<>();
            RunStaging staging =
                    RunStaging.of(
                            runs,
                            (run, rows) -> {
                                passed.add(rows);
                                return DeviceCopy.NONE;
                            },
                            runBytes);
            List<RunStaging.Claim> claims = new ArrayList<>();
            for (int run = 0; run < 10; run++) {
                claims.add(staging.claim(RUN_ROWS));
            }
            claims.add(staging.claim(5));
            staging.finish();
            Collections.reverse(claims);
            claims.forEach(RunStaging.Claim::written);
            assertThat(passed).isEmpty();
            runs.passAll();
            assertThat(passed).containsExactly(4 * RUN_ROWS, 4 * RUN_ROWS, 2 * RUN_ROWS + 5);
        }
    }

    @Test
    void shouldThrowWhatATaskHasThrown() throws Exception {
        try (BulkDevices devices = new HostBulkDevice().open(withThreads(2))) {
            BulkDevice device = devices.first();
            StagedRuns runs = new StagedRuns(device, device.newMemory(), 1, 8 * RUN_ROWS);
            List<Long> passed = new ArrayList<>();
            RunStaging staging =
                    RunStaging.ofSingleRuns(
                            runs,
                            (run, rows) -> {
                                passed.add(run);
                                return DeviceCopy.NONE;
                            });
            RunStaging.Claim claim = staging.claim(RUN_ROWS);
            Chunk chunk = chunks(1, 1, key -> key).get(0);
            IllegalStateException cause = new IllegalStateException("told to fail");
            device.threads()
                    .read(
                            chunk,
                            () -> {
                                throw cause;
                            },
                            claim::written);
            assertThatThrownBy(runs::passAll).isSameAs(cause);
            assertThat(passed).isEmpty();
            Future<Object> result =
                    device.threads()
                            .submit(
                                    () -> {
                                        throw cause;
                                    });
            assertThatThrownBy(() -> BulkThreads.await(result)).isSameAs(cause);
        }
    }

    @Test
    void shouldStopWhenInterruptedWhileThreadsWrite() throws Exception {
        try (BulkDevices devices = new HostBulkDevice().open(withThreads(1))) {
            BulkDevice device = devices.first();
            StagedRuns runs = new StagedRuns(device, device.newMemory(), 1, 8 * RUN_ROWS);
            RunStaging staging = RunStaging.ofSingleRuns(runs, (run, rows) -> DeviceCopy.NONE);
            staging.claim(RUN_ROWS);
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(runs::passAll);
        }
    }

    @Test
    void shouldReleaseChunksOfTasksThatNeverRun() throws Exception {
        CountDownLatch isRunning = new CountDownLatch(1);
        try (SlotPool pool = new SlotPool(Allocator.unlimited(), 2, 64 << 10)) {
            BulkThreads threads = new BulkThreads(1);
            for (Chunk chunk : chunks(4_000, 2_000, key -> key, pool)) {
                assertThat(chunk.slot()).isNotNull();
                threads.read(
                        chunk,
                        () -> {
                            isRunning.countDown();
                            awaitInterrupt();
                        },
                        () -> {});
                chunk.release();
            }
            isRunning.await();
            assertThat(pool.tryAcquire(1)).isNull();
            threads.close();
            List<ChunkSlot> free = List.of(pool.tryAcquire(1), pool.tryAcquire(1));
            free.forEach(ChunkSlot::release);
        }
    }

    private static void awaitInterrupt() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Chunks are still being read, or results are still being written. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void shouldReturnAllMemoryWhenClosedInTheMiddle(int polls) throws Exception {
        HostBulkDevice host = new HostBulkDevice();
        try (SlotPool pool = new SlotPool(Allocator.unlimited(), 8, 1 << 20)) {
            try (GpuBulkJoin join = new GpuBulkJoin(PAIRS, host.open(withThreads(3)), null)) {
                for (Chunk chunk : chunks(200_000, 50_000, key -> key * 7, pool)) {
                    join.submit(JoinSide.LEFT, chunk);
                    join.submit(JoinSide.RIGHT, chunk);
                    chunk.release();
                }
                if (polls > 0) {
                    join.finish();
                }
                for (int poll = 0; poll < polls; poll++) {
                    assertThat(join.poll(0)).isNotNull();
                }
            }
            List<ChunkSlot> free = new ArrayList<>();
            for (int slot = 0; slot < 8; slot++) {
                free.add(pool.tryAcquire(1));
            }
            assertThat(free).doesNotContainNull();
            free.forEach(ChunkSlot::release);
        }
        assertThat(host.usedBytes()).isZero();
    }
}
