// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkJoinState;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.testing.BulkAnswer;
import io.github.gpujoin.core.bulk.testing.BulkRun;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ChunkSlot;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.slot.SlotPool;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory, threads and the build side of the radix join on the CPU. */
@ExtendWith(RegionLeakExtension.class)
class CpuRadixJoinTest {

    private static final ChunkSchema TUPLES =
            ChunkSchema.of(Column.of("key", ColumnType.INT64), Column.of("row", ColumnType.INT64));

    private static final int CHUNK_ROWS = 1_000;

    /** Links to the files that this process has open, on Linux. */
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    @TempDir private Path directory;

    private static BulkJoinSpec spec(BulkJoinKind kind, BulkOutput output) {
        return new BulkJoinSpec(
                new BulkInput("l", TUPLES, List.of(0)),
                new BulkInput("r", TUPLES, List.of(0)),
                kind,
                false,
                output);
    }

    private static List<Chunk> chunks(int rows, IntToLongFunction keys) {
        ChunkBuilder builder = new ChunkBuilder(TUPLES, CHUNK_ROWS * TUPLES.fixedRowBytes());
        List<Chunk> chunks = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            builder.putLong(0, keys.applyAsLong(row));
            builder.putLong(1, row);
            builder.endRow();
            if (builder.isFull()) {
                chunks.add(seal(builder));
            }
        }
        chunks.add(seal(builder));
        return chunks;
    }

    private static Chunk seal(ChunkBuilder builder) {
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    @ParameterizedTest
    @ValueSource(longs = {1_100_000, 4_000_000, 7_000_000})
    void shouldFailBeforeTheFirstResultIfMemoryIsRefused(long limitBytes) throws Exception {
        MemoryAccount account = new MemoryAccount("test");
        List<Chunk> chunks = chunks(300_000, row -> row);
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(BulkJoinKind.INNER, new BulkOutput.Count()),
                        new RadixJoinOptions(2, 2, 1_000, null),
                        account.within(limitBytes))) {
            EngineUnavailableException refused =
                    catchThrowableOfType(
                            EngineUnavailableException.class,
                            () -> BulkRun.join(join, chunks, chunks, 0));
            assertThat(refused.scope()).isEqualTo(EngineUnavailableException.Scope.NO_MEMORY);
            assertThat(refused).hasMessageContaining("budgetBytes=" + limitBytes);
            assertThat(join.state()).isEqualTo(BulkJoinState.FAILED);
            assertThat(join.stats().resultRows()).isZero();
        }
        assertThat(account.usedBytes()).isZero();
        assertThat(account.peakBytes()).isLessThanOrEqualTo(limitBytes);
    }

    @ParameterizedTest(name = "{0}, limit {1} bytes")
    @CsvSource({
        "INNER, 8000000",
        "INNER, 16000000",
        "FULL, 8000000",
        "SEMI, 8000000",
        "ANTI, 30000000"
    })
    void shouldSpillPartitionsThatExceedTheMemory(BulkJoinKind kind, long limitBytes)
            throws Exception {
        MemoryAccount account = new MemoryAccount("test");
        List<Chunk> left = chunks(600_000, row -> row);
        List<Chunk> right = chunks(600_000, row -> row + 100);
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(kind, new BulkOutput.Count()),
                        new RadixJoinOptions(2, 6, 1_000, directory),
                        account.within(limitBytes))) {
            BulkRun.submit(join, left, right, 0);
            join.finish();
            assertThat(join.stats().spilledBytes()).isGreaterThan(1_200_000L * Long.BYTES);
            BulkAnswer answer = new BulkAnswer();
            join.drain(result -> answer.add(join.spec(), result));
            int expected =
                    switch (kind) {
                        case FULL -> 600_100;
                        case ANTI -> 100;
                        default -> 599_900;
                    };
            assertThat(answer.rowCount()).isEqualTo(expected);
            assertThat(account.peakBytes()).isLessThanOrEqualTo(limitBytes);
        }
        assertThat(spillFiles()).isEmpty();
        assertThat(account.usedBytes()).isZero();
    }

    @Test
    void shouldNameTheDirectoryThatFilesCannotBeCreatedIn() throws Exception {
        List<Chunk> chunks = chunks(200_000, row -> row);
        Path missing = directory.resolve("missing");
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(BulkJoinKind.INNER, new BulkOutput.Count()),
                        RadixJoinOptions.ofThreads(1).spillingTo(missing),
                        new MemoryAccount("test").within(3_000_000))) {
            EngineUnavailableException failed =
                    catchThrowableOfType(
                            EngineUnavailableException.class,
                            () -> BulkRun.join(join, chunks, chunks, 0));
            assertThat(failed.scope()).isEqualTo(EngineUnavailableException.Scope.FILE);
            assertThat(failed).hasMessageContaining("directory=" + missing);
            assertThat(join.state()).isEqualTo(BulkJoinState.FAILED);
        }
    }

    @Test
    void shouldSpillWithinAChunkThatExceedsTheMemory() throws Exception {
        ChunkSchema texts =
                ChunkSchema.of(
                        Column.of("key", ColumnType.INT64), Column.of("text", ColumnType.STRING));
        List<Object[]> rows = new ArrayList<>();
        for (long row = 0; row < 8_000; row++) {
            rows.add(new Object[] {row, "x".repeat(1_000)});
        }
        List<Chunk> chunk = List.of(TestChunks.of(texts, ChunkDescriptor.FACTS, rows));
        BulkJoinSpec spec =
                new BulkJoinSpec(
                        new BulkInput("l", texts, List.of(0)),
                        new BulkInput("r", texts, List.of(0)),
                        BulkJoinKind.INNER,
                        false,
                        new BulkOutput.Rows(List.of(0, 1), List.of(1)));
        MemoryAccount account = new MemoryAccount("test");
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec,
                        new RadixJoinOptions(1, 6, 100_000, directory),
                        account.within(6_000_000))) {
            assertThat(BulkRun.join(join, chunk, chunk, 0).rowCount()).isEqualTo(8_000);
            assertThat(join.stats().spilledBytes()).isGreaterThan(16_000_000);
        }
    }

    /** The limit has room for the partitions, but not for a table beside them. */
    @Test
    void shouldBeInterruptibleWhileFinishSpills() throws Exception {
        List<Chunk> chunks = chunks(300_000, row -> row);
        Thread caller = Thread.currentThread();
        AtomicBoolean isLoaded = new AtomicBoolean();
        Allocator limited = new MemoryAccount("test").within(14_000_000);
        Allocator interrupting =
                new Allocator() {
                    @Override
                    public Region allocate(long lengthBytes) {
                        return limited.allocate(lengthBytes);
                    }

                    @Override
                    public long availableBytes() {
                        if (isLoaded.get()) {
                            caller.interrupt(); // finish plans the tables
                        }
                        return limited.availableBytes();
                    }
                };
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(BulkJoinKind.INNER, new BulkOutput.Count()),
                        new RadixJoinOptions(1, 0, 1_000, directory),
                        interrupting)) {
            BulkRun.submit(join, chunks, chunks, 0);
            assertThat(join.stats().spilledBytes()).isZero();
            isLoaded.set(true);
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(join::finish);
            assertThat(caller.isInterrupted()).isFalse();
            assertThat(join.state()).isEqualTo(BulkJoinState.FAILED);
        }
    }

    /** The join pauses after its first results, so that it reads most segments later. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldReportSpilledRowsThatCannotBeRead() throws Exception {
        List<Chunk> chunks = chunks(200_000, row -> row);
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(BulkJoinKind.INNER, new BulkOutput.Rows(List.of(0), List.of())),
                        new RadixJoinOptions(1, 4, 1_000, directory),
                        new MemoryAccount("test").within(3_000_000))) {
            BulkRun.submit(join, chunks, chunks, 0);
            join.finish();
            for (Path file : spillFiles()) {
                Files.write(file, new byte[0]);
            }
            EngineUnavailableException failed =
                    catchThrowableOfType(
                            EngineUnavailableException.class, () -> join.drain(result -> {}));
            assertThat(failed.scope()).isEqualTo(EngineUnavailableException.Scope.FILE);
            assertThat(failed).hasMessageContaining("Spilled rows cannot be read");
            assertThat(join.state()).isEqualTo(BulkJoinState.FAILED);
        }
    }

    /** Files whose rows are lost fail each join that reads them. */
    @ParameterizedTest
    @EnumSource(names = {"INNER", "LEFT", "SEMI", "ANTI"})
    @EnabledOnOs(OS.LINUX)
    void shouldNotReadSpilledRowsThatCannotMatch(BulkJoinKind kind) throws Exception {
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(kind, new BulkOutput.Count()),
                        new RadixJoinOptions(1, 4, 1_000, directory),
                        new MemoryAccount("test").within(3_000_000))) {
            BulkRun.submit(join, List.of(), chunks(400_000, row -> row), 0);
            for (Path file : spillFiles()) {
                Files.write(file, new byte[0]);
            }
            join.finish();
            BulkAnswer answer = new BulkAnswer();
            join.drain(result -> answer.add(join.spec(), result));
            assertThat(answer.rowCount()).isZero();
            assertThat(join.stats().spilledBytes()).isPositive();
        }
    }

    /** Returns the open files of the test's directory, which have no name there any more. */
    private List<Path> spillFiles() throws IOException {
        List<Path> files = new ArrayList<>();
        if (!Files.isDirectory(DESCRIPTORS)) {
            return files; // not on Linux
        }
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path descriptor : descriptors) {
                if (isSpillFile(descriptor)) {
                    files.add(descriptor);
                }
            }
        }
        return files;
    }

    private boolean isSpillFile(Path descriptor) throws IOException {
        try {
            return Files.readSymbolicLink(descriptor).startsWith(directory.toRealPath());
        } catch (NoSuchFileException e) {
            return false; // the descriptor of the listing
        }
    }

    @Test
    void shouldReportTheMemoryThatItAllocates() throws Exception {
        MemoryAccount account = new MemoryAccount("test");
        List<Chunk> chunks = chunks(50_000, row -> row);
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(BulkJoinKind.FULL, new BulkOutput.Count()),
                        RadixJoinOptions.ofThreads(2),
                        account.within(Long.MAX_VALUE))) {
            BulkAnswer answer = BulkRun.join(join, chunks, chunks, 0);
            assertThat(answer.rowCount()).isEqualTo(50_000);
            assertThat(join.stats().memoryBytes()).isEqualTo(account.usedBytes()).isPositive();
        }
    }

    /** The limit leaves 5 MiB for a table and buffers; a table of a million rows has 24 MB. */
    @ParameterizedTest(name = "{0}, left rows {1}, right rows {2}")
    @CsvSource({
        "INNER, 10, 1000000", "INNER, 1000000, 10", "FULL, 10, 1000000",
        "SEMI, 10, 1000000", "ANTI, 1000000, 10", "ANTI, 10, 1000000"
    })
    void shouldBuildFromTheSmallerInput(BulkJoinKind kind, int leftRows, int rightRows)
            throws Exception {
        MemoryAccount account = new MemoryAccount("test");
        long rowBytes = 8L * (leftRows + rightRows); // counted rows have a key only
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(kind, new BulkOutput.Count()),
                        new RadixJoinOptions(1, 0, 1_000, null),
                        account.within(rowBytes + (5 << 20)))) {
            BulkAnswer answer =
                    BulkRun.join(
                            join, chunks(leftRows, row -> row), chunks(rightRows, row -> row), 0);
            int expected =
                    switch (kind) {
                        case FULL -> 1_000_000;
                        case ANTI -> leftRows - 10;
                        default -> 10;
                    };
            assertThat(answer.rowCount()).isEqualTo(expected);
        }
    }

    /** A table of the frequent key for each thread would need 50 MB. */
    @ParameterizedTest(name = "{0}, threads {1}, spills {2}")
    @CsvSource({"SEMI, 8, true", "SEMI, 8, false", "FULL, 8, true", "ANTI, 3, true"})
    void shouldJoinAFrequentKeyWithOneThreadIfTablesOfAllDoNotFit(
            BulkJoinKind kind, int threads, boolean spills) throws Exception {
        int rows = 400_000;
        List<Chunk> left = chunks(rows, row -> row % 2 == 0 ? 7 : 2 * row);
        List<Chunk> right =
                chunks(rows, row -> row % 2 == 0 && kind != BulkJoinKind.FULL ? 7 : -row);
        MemoryAccount account = new MemoryAccount("test");
        RadixJoinOptions options = new RadixJoinOptions(threads, 6, 1_000, null);
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(kind, new BulkOutput.Count()),
                        spills ? options.spillingTo(directory) : options,
                        account.within(24_000_000))) {
            int expected = kind == BulkJoinKind.FULL ? 2 * rows : rows / 2;
            assertThat(BulkRun.join(join, left, right, 0).rowCount()).isEqualTo(expected);
        }
    }

    @Test
    void shouldRejectAMemoryWithoutRoomForTheBuffersOfTheThreads() {
        long availableBytes = 1_000_000;
        EngineUnavailableException refused =
                catchThrowableOfType(
                        EngineUnavailableException.class,
                        () ->
                                new CpuRadixJoin(
                                        spec(BulkJoinKind.INNER, new BulkOutput.Count()),
                                        RadixJoinOptions.ofThreads(2),
                                        new MemoryAccount("test").within(availableBytes)));
        assertThat(refused.scope()).isEqualTo(EngineUnavailableException.Scope.NO_MEMORY);
        assertThat(refused)
                .hasMessageContaining("availableBytes=1000000, bufferBytes=1048576, threads=2");
    }

    /** The minimum that docs/architecture/bulk-joins.md states. */
    @ParameterizedTest(name = "threads={0}")
    @ValueSource(ints = {1, 2, 8})
    void shouldJoinUniqueKeysWithinTheMinimumOfMemory(int threads) throws Exception {
        int rows = 1_000_000;
        List<Chunk> chunks = chunks(rows, row -> row);
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(BulkJoinKind.INNER, new BulkOutput.Rows(List.of(0, 1), List.of(1))),
                        RadixJoinOptions.ofThreads(threads).spillingTo(directory),
                        new MemoryAccount("test").within(4L * threads << 20))) {
            BulkRun.submit(join, chunks, chunks, 0);
            join.finish();
            long[] count = new long[1];
            join.drain(result -> count[0] += ((BulkResult.Rows) result).chunk().rowCount());
            assertThat(count[0]).isEqualTo(rows);
        }
    }

    /** Without removal, each right row would visit all left rows: 10^10 comparisons. */
    @ParameterizedTest(name = "{0}, left rows {1}, right rows {2}")
    @CsvSource({"SEMI, 99999, 100000", "ANTI, 99999, 100000", "SEMI, 100000, 99999"})
    @Timeout(20)
    void shouldVisitEachRowOfAFrequentKeyOnce(BulkJoinKind kind, int leftRows, int rightRows)
            throws Exception {
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(kind, new BulkOutput.Count()),
                        RadixJoinOptions.ofThreads(1),
                        Allocator.unlimited())) {
            BulkAnswer answer =
                    BulkRun.join(join, chunks(leftRows, row -> 7), chunks(rightRows, row -> 7), 0);
            assertThat(answer.rowCount()).isEqualTo(kind == BulkJoinKind.SEMI ? leftRows : 0);
        }
    }

    @Test
    void shouldJoinTheLargestPartitionFirst() throws Exception {
        int frequent = 5_000;
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(BulkJoinKind.INNER, new BulkOutput.Rows(List.of(0), List.of())),
                        new RadixJoinOptions(1, 10, 1_000, null),
                        Allocator.unlimited())) {
            BulkRun.submit(
                    join, chunks(frequent + 1, row -> row), chunks(8_000, row -> frequent), 0);
            BulkRun.submit(join, List.of(), chunks(frequent, row -> row), 0);
            join.finish();
            List<Long> keys = new ArrayList<>();
            join.drain(
                    result -> {
                        Chunk chunk = ((BulkResult.Rows) result).chunk();
                        IntStream.range(0, chunk.rowCount())
                                .forEach(row -> keys.add(chunk.getLong(0, row)));
                    });
            assertThat(keys).hasSize(8_000 + frequent);
            // a few other keys are in the partition of the frequent one
            assertThat(keys.subList(0, 8_000).stream().filter(key -> key != frequent).count())
                    .isLessThan(50);
        }
    }

    @Test
    void shouldReleaseSlotsOfSubmittedChunks() throws Exception {
        List<Chunk> chunks = chunks(5_000, row -> row);
        try (SlotPool pool = new SlotPool(Allocator.unlimited(), 2, 64 << 10);
                BulkJoin join =
                        new CpuRadixJoin(
                                spec(BulkJoinKind.INNER, new BulkOutput.Count()),
                                RadixJoinOptions.ofThreads(2),
                                Allocator.unlimited())) {
            ChunkBuilder inSlots = new ChunkBuilder(TUPLES, CHUNK_ROWS * 16, pool);
            for (Chunk chunk : chunks) {
                for (int row = 0; row < chunk.rowCount(); row++) {
                    inSlots.addRow(chunk, row);
                }
                Chunk inSlot = seal(inSlots);
                join.submit(JoinSide.LEFT, inSlot);
                inSlot.release();
                join.submit(JoinSide.RIGHT, chunk);
            }
            join.finish();
            BulkAnswer answer = new BulkAnswer();
            join.drain(result -> answer.add(join.spec(), result));
            assertThat(answer.rowCount()).isEqualTo(5_000);
            List<ChunkSlot> free = List.of(pool.tryAcquire(1), pool.tryAcquire(1));
            free.forEach(ChunkSlot::release);
        }
    }

    /** More chunks than threads, so that some closes find a chunk that no thread has begun. */
    @Test
    void shouldReleaseSlotsIfClosedWhileLoading() throws Exception {
        int slots = 8;
        for (int round = 0; round < 100; round++) {
            try (SlotPool pool = new SlotPool(Allocator.unlimited(), slots, 64 << 10)) {
                try (BulkJoin join =
                        new CpuRadixJoin(
                                spec(BulkJoinKind.INNER, new BulkOutput.Count()),
                                RadixJoinOptions.ofThreads(2),
                                Allocator.unlimited())) {
                    ChunkBuilder builder = new ChunkBuilder(TUPLES, CHUNK_ROWS * 16, pool);
                    for (int number = 0; number < 3 + round % 6; number++) {
                        builder.putLong(0, number);
                        builder.putLong(1, number);
                        builder.endRow();
                        Chunk inSlot = seal(builder);
                        join.submit(JoinSide.LEFT, inSlot);
                        inSlot.release();
                    }
                }
                assertThat(pool.freeCount()).as("round %d", round).isEqualTo(slots);
            }
        }
    }

    @Test
    void shouldLoseNoResultIfPollIsInterrupted() throws Exception {
        List<Chunk> chunks = chunks(3_000, row -> 1);
        long[] rows = new long[1];
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(BulkJoinKind.INNER, new BulkOutput.Rows(List.of(1), List.of(1))),
                        RadixJoinOptions.ofThreads(2),
                        Allocator.unlimited())) {
            BulkRun.submit(join, chunks.subList(0, 1), chunks, 0);
            join.finish();
            while (join.state() == BulkJoinState.JOINING) {
                Thread.currentThread().interrupt();
                assertThatExceptionOfType(InterruptedException.class)
                        .isThrownBy(() -> join.poll(1));
                BulkResult result = join.poll(1_000_000);
                rows[0] += result == null ? 0 : ((BulkResult.Rows) result).chunk().rowCount();
            }
        }
        assertThat(rows[0]).isEqualTo(1_000L * 3_000);
    }

    @Test
    void shouldFailIfSubmitIsInterrupted() throws Exception {
        try (BulkJoin join =
                new CpuRadixJoin(
                        spec(BulkJoinKind.INNER, new BulkOutput.Count()),
                        RadixJoinOptions.ofThreads(1),
                        Allocator.unlimited())) {
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(() -> join.submit(JoinSide.LEFT, chunks(1, row -> row).get(0)));
            assertThat(join.state()).isEqualTo(BulkJoinState.FAILED);
        }
    }

    @Test
    void shouldRejectOptionsOutOfRange() {
        assertThat(
                        catchThrowableOfType(
                                IllegalArgumentException.class,
                                () -> new RadixJoinOptions(0, 1, 1, null)))
                .hasMessageContaining("threads=0");
        assertThat(
                        catchThrowableOfType(
                                IllegalArgumentException.class,
                                () -> new RadixJoinOptions(1, 14, 1, null)))
                .hasMessage("Partition bits are out of range (0 to 13): partitionBits=14");
    }
}
