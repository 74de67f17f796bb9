// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.testing.InSlots;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.slot.SlotPool;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Chunks in slots, on a device that the CPU emulates. */
class InPlaceChunksTest {

    private static final int ROWS = 100;
    private static final int SEGMENT_ROWS = 1000;

    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("amount", ColumnType.FLOAT64),
                    Column.of("key", ColumnType.INT32),
                    Column.of("other", ColumnType.INT64));

    private static final ChunkSchema BUILD =
            ChunkSchema.of(Column.of("id", ColumnType.INT64), Column.of("value", ColumnType.INT64));

    private static final JoinSpec SPEC =
            new JoinSpec(FACTS, List.of(new DimensionSpec("d", BUILD, 0, 1, JoinKind.INNER)));

    private HostDevice device;
    private GpuJoinEngine engine;
    private long openRegions;

    @BeforeEach
    void open() throws Exception {
        openRegions = Region.openCount();
        device = HostDevice.open(GpuOptions.defaults().withSlots(4, SEGMENT_ROWS));
        openEngine();
    }

    private void openEngine() {
        engine = (GpuJoinEngine) device.create(SPEC);
        ChunkBuilder build = new ChunkBuilder(BUILD, 1 << 20);
        for (int row = 0; row < ROWS; row++) {
            build.putLong(0, row);
            build.putLong(1, 7L * row);
            build.endRow();
        }
        engine.submitBuild(0, build.seal(0, ChunkDescriptor.UNPARTITIONED, 0, 0));
        engine.finishBuild();
    }

    @AfterEach
    void close() {
        engine.close();
        device.close();
        assertThat(Region.openCount()).isEqualTo(openRegions);
    }

    private static Chunk facts(int rows) {
        return facts(rows, 0);
    }

    private static Chunk facts(int rows, int firstKey) {
        ChunkBuilder builder = new ChunkBuilder(FACTS, 1 << 20);
        for (int row = 0; row < rows; row++) {
            builder.putDouble(0, row);
            builder.putInt(1, (firstKey + row) % ROWS);
            builder.putLong(2, -row);
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 3, 4);
    }

    private void requireAnswer(Chunk chunk) {
        assertThat(engine.submitProbe(chunk, 0)).isTrue();
        requireResults(engine, chunk, 0);
    }

    private static void requireResults(GpuJoinEngine engine, Chunk chunk, int firstKey) {
        int rows = 0;
        while (engine.inFlightCount() > 0) {
            ResultBatch batch = engine.poll();
            for (int row = 0; batch != null && row < batch.rowCount(); row++) {
                assertThat(batch.probeRow(row)).isEqualTo(rows);
                assertThat(batch.getLong(0, 0, row)).isEqualTo(7L * ((firstKey + rows) % ROWS));
                rows++;
            }
        }
        assertThat(rows).isEqualTo(chunk.rowCount());
    }

    @Test
    void shouldReadChunksInSlotsWithoutACopyByTheCpu() {
        for (boolean isVerified : new boolean[] {false, true}) {
            Chunk chunk = InSlots.copyOf(facts(ROWS), isVerified);
            requireAnswer(chunk);
            engine.poll();
            chunk.release();
        }
        assertThat(engine.payloadBytesCopied()).isZero();
        assertThat(engine.verifiesSlots()).isTrue();
    }

    @Test
    void shouldUseASlotUntilTheKernelHasReadIt() {
        Chunk chunk = InSlots.copyOf(facts(3 * SEGMENT_ROWS), true);
        assertThat(engine.submitProbe(chunk, 0)).isTrue();
        chunk.release();
        requireResults(engine, chunk, 0);
    }

    @Test
    void shouldReleaseTheSlotsOfUnreadResultsWhenItCloses() {
        Chunk chunk = InSlots.copyOf(facts(ROWS), true);
        assertThat(engine.submitProbe(chunk, 0)).isTrue();
        chunk.release();
        engine.close();
        assertThatThrownBy(chunk::retain).hasMessageContaining("Slot is used after its last user");
    }

    @Test
    void shouldReadEncodedChunksInSlotsWithoutACopyByTheCpu() {
        for (boolean isVerified : new boolean[] {false, true}) {
            Chunk chunk = InSlots.encodedCopyOf(facts(2 * SEGMENT_ROWS), isVerified);
            assertThat(chunk).isInstanceOf(EncodedChunk.class);
            requireAnswer(chunk);
            engine.poll();
            chunk.release();
        }
        assertThat(engine.payloadBytesCopied()).isZero();
    }

    /** Each block decodes facts of all engines at the same place. */
    @Test
    void shouldDecodeTheFactsOfSeveralEnginesInOneMemory() {
        try (GpuJoinEngine fork = engine.fork()) {
            List<GpuJoinEngine> engines = List.of(engine, fork);
            for (int round = 0; round < 20; round++) {
                List<Chunk> chunks =
                        List.of(
                                InSlots.encodedCopyOf(facts(2 * SEGMENT_ROWS, round), true),
                                InSlots.encodedCopyOf(facts(2 * SEGMENT_ROWS, 50 + round), true));
                for (int i = 0; i < 2; i++) {
                    assertThat(engines.get(i).submitProbe(chunks.get(i), 0)).isTrue();
                }
                for (int i = 0; i < 2; i++) {
                    requireResults(engines.get(i), chunks.get(i), 50 * i + round);
                    engines.get(i).poll();
                    chunks.get(i).release();
                }
            }
            assertThat(fork.payloadBytesCopied()).isZero();
        }
    }

    @Test
    void shouldContinueAnEncodedChunkInABatchOfRows() throws Exception {
        engine.close();
        device.close();
        device = HostDevice.open(GpuOptions.defaults().withSlots(4, 5000));
        openEngine();
        for (int rows : new int[] {4097, 9000, 10_000}) {
            Chunk chunk = InSlots.encodedCopyOf(facts(rows), true);
            requireAnswer(chunk);
            engine.poll();
            chunk.release();
        }
        assertThat(engine.payloadBytesCopied()).isZero();
    }

    @Test
    void shouldCopyEncodedColumnsOfChunksOnTheHeapAsTheyAre() {
        Chunk chunk = facts(SEGMENT_ROWS);
        byte[] encoded = new ChunkEncoder().encode(chunk);
        requireAnswer(ChunkDecoder.open(FACTS, encoded));
        assertThat(engine.payloadBytesCopied()).isPositive().isLessThan(encoded.length);
    }

    @Test
    void shouldReadVerifiedChunksInRangesOfASegment() {
        Chunk chunk = InSlots.copyOf(facts(3 * SEGMENT_ROWS + 17), true);
        requireAnswer(chunk);
        chunk.release();
        assertThat(engine.payloadBytesCopied()).isZero();
    }

    @Test
    void shouldCopyChunksOnTheHeapAndUnverifiedOnesThatExceedASegment() {
        requireAnswer(facts(ROWS));
        long copied = engine.payloadBytesCopied();
        assertThat(copied).isPositive();
        Chunk chunk = InSlots.copyOf(facts(SEGMENT_ROWS + 1), false);
        requireAnswer(chunk);
        chunk.release();
        assertThat(engine.payloadBytesCopied()).isGreaterThan(copied);
    }

    @Test
    void shouldRegisterARegionOnceAndUnregisterItBeforeItIsFreed() {
        SlotPool slots = new SlotPool(Allocator.unlimited(), 2, 64 << 10);
        ChunkBuilder builder = new ChunkBuilder(FACTS, 1 << 10, slots);
        for (int i = 0; i < 3; i++) {
            for (int row = 0; row < 20; row++) {
                builder.putDouble(0, row);
                builder.putInt(1, row);
                builder.putLong(2, row);
                builder.endRow();
            }
            Chunk chunk = builder.seal(ChunkDescriptor.FACTS, -1, 0, i);
            assertThat(chunk.slot()).isNotNull();
            requireAnswer(chunk);
            assertThat(device.registeredCount()).isEqualTo(1);
            engine.poll();
            chunk.release();
        }
        slots.close();
        assertThat(device.registeredCount()).isZero();
        assertThat(engine.payloadBytesCopied()).isZero();
    }

    @Test
    void shouldUnregisterAllRegionsWhenTheDeviceCloses() {
        SlotPool slots = new SlotPool(Allocator.unlimited(), 2, 64 << 10);
        ChunkBuilder builder = new ChunkBuilder(FACTS, 1 << 10, slots);
        builder.putInt(1, 5);
        builder.endRow();
        Chunk chunk = builder.seal(ChunkDescriptor.FACTS, -1, 0, 0);
        assertThat(engine.submitProbe(chunk, 0)).isTrue();
        engine.close();
        device.close();
        assertThat(device.registeredCount()).isZero();
        chunk.release();
        slots.close();
    }

    @Test
    void shouldCopyIfTheDeviceRefusesTheMemory() {
        device.refuseRegistrations();
        Chunk chunk = InSlots.copyOf(facts(ROWS), false);
        requireAnswer(chunk);
        chunk.release();
        assertThat(engine.payloadBytesCopied()).isPositive();
        assertThat(device.registeredCount()).isZero();
    }

    @Test
    void shouldRejectAChunkThatNeverArrives() {
        Chunk chunk = InSlots.copyOf(facts(ROWS), false);
        long at = chunk.columnStart(2) + 8;
        Memory.putLong(at, Memory.getLong(at) ^ 1);
        assertThat(engine.submitProbe(chunk, 0)).isTrue();
        assertThatThrownBy(
                        () -> {
                            while (true) {
                                engine.poll();
                            }
                        })
                .isInstanceOf(GpuUnavailableException.class)
                .hasMessageContaining("status=2");
        assertThatThrownBy(chunk::verify).isInstanceOf(ChunkFormatException.class);
        chunk.release();
    }

    @Test
    void shouldReadAChunkThatArrivesLate() throws Exception {
        Chunk chunk = InSlots.copyOf(facts(ROWS), false);
        long at = chunk.columnStart(2) + 8;
        long value = Memory.getLong(at);
        Memory.putLong(at, ~value);
        assertThat(engine.submitProbe(chunk, 0)).isTrue();
        Memory.putLongRelease(null, at, value);
        int rows = 0;
        while (engine.inFlightCount() > 0) {
            ResultBatch batch = engine.poll();
            rows += batch == null ? 0 : batch.rowCount();
        }
        assertThat(rows).isEqualTo(ROWS);
        chunk.release();
    }
}
