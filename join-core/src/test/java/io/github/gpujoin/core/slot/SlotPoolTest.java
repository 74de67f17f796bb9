// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.slot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ChunkSlot;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Region;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlotPoolTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("number", ColumnType.INT64),
                    Column.of("small", ColumnType.INT32),
                    Column.nullable("text", ColumnType.STRING));

    private final SlotPool pool = new SlotPool(Allocator.unlimited(), 3, 1000);

    @Test
    void shouldAcquireAlignedSlotsThatDoNotOverlap() {
        Set<Long> addresses = new HashSet<>();
        List<ChunkSlot> slots = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            ChunkSlot slot = pool.tryAcquire(1000);
            assertThat(slot.address() % 64).isZero();
            assertThat(slot.isVerified()).isTrue();
            slots.add(slot);
            addresses.add(slot.address());
        }
        assertThat(addresses).hasSize(3);
        assertThat(slots.get(0).region().lengthBytes()).isEqualTo(SlotPool.lengthBytes(3, 1000));
        List<Long> sorted = addresses.stream().sorted().toList();
        assertThat(sorted.get(1) - sorted.get(0)).isEqualTo(pool.slotBytes()).isEqualTo(1024);
        slots.forEach(ChunkSlot::release);
        pool.close();
    }

    @Test
    void shouldHaveNoSlotWhileAllAreUsedOrForALongerChunk() {
        List<ChunkSlot> slots = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            slots.add(pool.tryAcquire(8));
        }
        assertThat(pool.tryAcquire(8)).isNull();
        slots.remove(0).release();
        assertThat(pool.freeCount()).isEqualTo(1);
        assertThat(pool.tryAcquire(1025)).isNull();
        slots.add(pool.tryAcquire(1024));
        assertThat(slots.get(2)).isNotNull();
        slots.forEach(ChunkSlot::release);
        pool.close();
    }

    @Test
    void shouldFreeASlotWithItsLastUser() {
        ChunkSlot slot = pool.tryAcquire(8);
        slot.retain();
        slot.release();
        assertThat(pool.freeCount()).isEqualTo(2);
        slot.release();
        assertThat(pool.freeCount()).isEqualTo(3);
        assertThatIllegalStateException()
                .isThrownBy(slot::release)
                .withMessage("Slot is used after its last user released it.");
        assertThatIllegalStateException().isThrownBy(slot::retain);
        assertThatIllegalStateException().isThrownBy(slot::address);
        assertThat(pool.freeCount()).isEqualTo(3);
        pool.close();
    }

    @Test
    void shouldFreeItsMemoryWithTheLastSlotAfterTheClose() {
        long openBefore = Region.openCount();
        ChunkSlot slot = pool.tryAcquire(8);
        pool.close();
        pool.close();
        assertThat(pool.tryAcquire(8)).isNull();
        assertThat(Region.openCount()).isEqualTo(openBefore);
        slot.release();
        assertThat(Region.openCount()).isEqualTo(openBefore - 1);
    }

    @Test
    void shouldRejectAnEmptyPool() {
        pool.close();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SlotPool(Allocator.unlimited(), 0, 64))
                .withMessage("Slot pool is empty: slotCount=0, slotBytes=64");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SlotPool(Allocator.unlimited(), 1, 0));
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldHoldTheSameChunkAsTheHeap(long seed) {
        Random random = new Random(seed);
        int targetBytes = 1 + random.nextInt(900);
        ChunkBuilder inSlots = new ChunkBuilder(SCHEMA, targetBytes, pool);
        ChunkBuilder onHeap = new ChunkBuilder(SCHEMA, targetBytes);
        for (int i = 0; i < 20; i++) {
            int rows = random.nextInt(onHeap.capacityRows() + 1);
            for (int row = 0; row < rows && !onHeap.isFull(); row++) {
                addRow(List.of(inSlots, onHeap), random);
            }
            Chunk heap = onHeap.seal(ChunkDescriptor.FACTS, 3, 5, i);
            Chunk slot = inSlots.seal(ChunkDescriptor.FACTS, 3, 5, i);
            assertThat(slot.slot() == null).isEqualTo(slot.lengthBytes() > pool.slotBytes());
            assertThat(slot).isEqualTo(heap);
            assertThat(slot.onHeap()).isEqualTo(heap);
            assertThat(slot.withPartition(9)).isEqualTo(heap.withPartition(9));
            assertThat(slot.withLongs(0, row -> row)).isEqualTo(heap.withLongs(0, row -> row));
            slot.release();
        }
        assertThat(pool.freeCount()).isEqualTo(3);
        pool.close();
    }

    private static void addRow(List<ChunkBuilder> builders, Random random) {
        long number = random.nextLong();
        String text = random.nextBoolean() ? null : "x".repeat(random.nextInt(9));
        for (ChunkBuilder builder : builders) {
            builder.putLong(0, number);
            builder.putInt(1, (int) number);
            if (text == null) {
                builder.addNull();
            } else {
                builder.addString(text);
            }
            builder.endRow();
        }
    }

    @Test
    void shouldPassSlotsBetweenThreads() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Future<Integer>> uses = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
            int number = thread;
            uses.add(threads.submit(() -> use(number)));
        }
        int used = 0;
        for (Future<Integer> future : uses) {
            used += future.get();
        }
        threads.shutdown();
        assertThat(used).isPositive();
        assertThat(pool.freeCount()).isEqualTo(3);
        pool.close();
    }

    /** Seals and rereads chunks; returns how many were in slots. */
    private int use(int thread) {
        ChunkSchema schema = ChunkSchema.of(Column.of("n", ColumnType.INT64));
        ChunkBuilder builder = new ChunkBuilder(schema, 800, pool);
        int inSlots = 0;
        for (int i = 0; i < 5_000; i++) {
            while (!builder.isFull()) {
                builder.putLong(0, 1_000_000L * thread + i);
                builder.endRow();
            }
            Chunk chunk = builder.seal(0, 0, 0, i);
            inSlots += chunk.slot() == null ? 0 : 1;
            for (int row = 0; row < chunk.rowCount(); row++) {
                assertThat(chunk.getLong(0, row)).isEqualTo(1_000_000L * thread + i);
            }
            chunk.release();
        }
        return inSlots;
    }
}
