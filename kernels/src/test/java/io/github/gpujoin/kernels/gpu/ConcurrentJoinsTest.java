// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.testing.InSlots;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Several joins on one device that the CPU emulates: what happens to one does not affect another.
 */
@ExtendWith(RegionLeakExtension.class)
class ConcurrentJoinsTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("value", ColumnType.INT64));
    private static final DimensionSpec SIDE = new DimensionSpec("d", SCHEMA, 0, 0, JoinKind.INNER);
    private static final JoinSpec SPEC = new JoinSpec(SCHEMA, List.of(SIDE));
    private static final int ROWS = 2_000;
    private static final int SLOTS = 4;
    private static final GpuOptions OPTIONS = GpuOptions.defaults().withSlots(SLOTS, 500);

    private HostDevice device;
    private GpuJoinEngine engine;

    @BeforeEach
    void open() throws Exception {
        device = HostDevice.open(OPTIONS);
        engine = loaded(SPEC, OPTIONS);
    }

    @AfterEach
    void close() {
        requireAllResults();
        engine.close();
        device.close();
        assertThat(Buffers.openCount()).isZero();
    }

    private GpuJoinEngine loaded(JoinSpec spec, GpuOptions options) {
        GpuJoinEngine loaded = engine(spec, options);
        loaded.submitBuild(0, chunk(0, ROWS));
        loaded.finishBuild();
        return loaded;
    }

    private GpuJoinEngine engine(JoinSpec spec, GpuOptions options) {
        device.group().retain();
        return new GpuJoinEngine(
                spec, options, MemoryReservations.unlimited(), device.group(), null);
    }

    private static Chunk chunk(int dimension, int rows) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 16 * rows);
        for (int row = 0; row < rows; row++) {
            builder.putLong(0, row);
            builder.putLong(1, 3L * row);
            builder.endRow();
        }
        return builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 3, 4);
    }

    private void requireAllResults() {
        for (int round = 0; round < 3; round++) {
            engine.submitProbe(chunk(ChunkDescriptor.FACTS, ROWS), 0);
            int rows = 0;
            while (engine.inFlightCount() > 0) {
                ResultBatch batch = engine.poll();
                rows += batch == null ? 0 : batch.rowCount();
            }
            assertThat(rows).isEqualTo(ROWS);
        }
    }

    /** It is so far ahead of another join that no step of it may be posted; a third one goes on. */
    @Test
    void shouldWaitForItsShareLongerThanAStall() {
        JoinShare share = new JoinShare(UUID.randomUUID(), 1);
        GpuOptions impatient =
                OPTIONS.withStallTimeoutNs(TimeUnit.MILLISECONDS.toNanos(50)).withShare(share);
        BusShares shares = device.lease().ring().shares();
        try (GpuJoinEngine waiting = loaded(SPEC, impatient);
                GpuJoinEngine running =
                        loaded(SPEC, OPTIONS.withShare(new JoinShare(UUID.randomUUID(), 1)));
                BusShares.Share ahead = shares.open(share);
                BusShares.Share behind = shares.open(new JoinShare(UUID.randomUUID(), 1))) {
            for (int i = 0; i < 64; i++) {
                behind.posted(192 << 10, BusShares.Bottleneck.DEVICE);
            }
            for (int i = 0; i < 100; i++) {
                ahead.posted(1 << 20, BusShares.Bottleneck.DEVICE);
                ahead.completed(1 << 20);
            }
            behind.waits(BusShares.Bottleneck.DEVICE);
            waiting.submitProbe(chunk(ChunkDescriptor.FACTS, ROWS), 0);
            int rows = 0;
            long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(300)) {
                behind.waits(BusShares.Bottleneck.DEVICE);
                rows += rowsOf(waiting.poll());
                if (running.inFlightCount() == 0) {
                    running.submitProbe(chunk(ChunkDescriptor.FACTS, ROWS), 0);
                }
                running.poll();
            }
            while (waiting.inFlightCount() > 0) {
                rows += rowsOf(waiting.poll());
            }
            assertThat(rows).isEqualTo(ROWS);
        }
    }

    private static int rowsOf(@Nullable ResultBatch batch) {
        return batch == null ? 0 : batch.rowCount();
    }

    /** All of its slots are in use, and it does not read them. */
    @Test
    void shouldJoinBesideAJoinWhoseGroupsAreFull() {
        JoinSpec grouped =
                new JoinSpec(
                        SCHEMA,
                        List.of(SIDE),
                        List.of(),
                        new Aggregation(
                                List.of(JoinColumn.ofFact(1)), List.of(Aggregate.count()), 10));
        try (GpuJoinEngine full = loaded(grouped, OPTIONS)) {
            for (int i = 0; i < 2; i++) {
                full.submitProbe(chunk(ChunkDescriptor.FACTS, ROWS), 0);
            }
            while (!full.awaitsDrain()) {
                full.poll();
            }
            requireAllResults();
            assertThat(full.awaitsDrain()).isTrue();
        }
    }

    @Test
    void shouldJoinBesideAJoinWhoseFactsAreDamaged() {
        try (GpuJoinEngine other = loaded(SPEC, OPTIONS)) {
            Chunk damaged = InSlots.copyOf(chunk(ChunkDescriptor.FACTS, 100), false);
            long at = damaged.columnStart(1) + 8;
            Memory.putLong(at, Memory.getLong(at) ^ 1);
            other.submitProbe(damaged, 0);
            damaged.release();
            requireAllResults();
            assertThatExceptionOfType(GpuUnavailableException.class)
                    .isThrownBy(
                            () -> {
                                while (true) {
                                    other.poll();
                                }
                            });
            assertThat(other.state()).isEqualTo(EngineState.FAILED);
            requireAllResults();
        }
        assertThat(device.lease().isLost()).isFalse();
    }

    /** At each allocation that exceeds the budget of the other join. */
    @Test
    void shouldKeepTheMemoryOfAJoinIfAnotherOneIsRefused() {
        long usedBytes = device.lease().memory().use().deviceBytes();
        int refusals = 0;
        for (long budgetBytes = usedBytes; ; budgetBytes += 8 << 10) {
            MemoryBudget budget = new MemoryBudget(budgetBytes, MemoryBudget.BY_MACHINE);
            try (GpuJoinEngine other = engine(SPEC, OPTIONS.withMemory(budget))) {
                other.submitBuild(0, chunk(0, ROWS));
                other.finishBuild();
                break;
            } catch (GpuUnavailableException e) {
                assertThat(e.failure()).isEqualTo(GpuFailure.OUT_OF_DEVICE_MEMORY);
                refusals++;
            }
            assertThat(device.lease().memory().use().deviceBytes()).isEqualTo(usedBytes);
        }
        assertThat(refusals).isGreaterThan(3);
    }
}
