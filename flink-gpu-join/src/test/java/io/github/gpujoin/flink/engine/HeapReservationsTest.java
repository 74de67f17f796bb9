// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.cpu.symmetric.CpuSymmetricJoinFactory;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables with chunks on the heap use a part of it only. */
class HeapReservationsTest {

    @Test
    void shouldRefuseMoreThanTheHeapHasForAllTables() {
        HeapReservations.Heap heap = new HeapReservations.Heap(100);
        HeapReservations first = new HeapReservations(MemoryReservations.unlimited(), heap);
        HeapReservations second = new HeapReservations(MemoryReservations.unlimited(), heap);
        first.reserve(60);
        assertThat(second.availableBytes()).isEqualTo(40);
        assertThatThrownBy(() -> second.reserve(50))
                .isInstanceOf(MemoryRefusedException.class)
                .hasMessageContaining("usedBytes=60, limitBytes=100")
                .hasMessageContaining("taskmanager.memory.task.heap.size");
        second.reserve(40);
        first.release(60);
        assertThat(second.availableBytes()).isEqualTo(60);
    }

    @Test
    void shouldLeaveEachJoinAPartOfTheHeap() {
        HeapReservations.Heap heap = new HeapReservations.Heap(100);
        HeapReservations first = new HeapReservations(MemoryReservations.unlimited(), heap);
        first.reserve(100);
        HeapReservations second = new HeapReservations(MemoryReservations.unlimited(), heap);
        assertThat(second.availableBytes()).isEqualTo(25);
        second.reserve(25);
        assertThat(second.availableBytes()).isZero();
        assertThatThrownBy(() -> second.reserve(1)).isInstanceOf(MemoryRefusedException.class);
        first.release(24);
        assertThatThrownBy(() -> first.reserve(1)).isInstanceOf(MemoryRefusedException.class);
        second.close();
        assertThat(first.availableBytes()).as("half of 100 less 76").isZero();
        second.release(25);
        assertThat(first.availableBytes()).isEqualTo(24);
    }

    /** The join with many rows spills chunks, and keeps as many on the heap as it may. */
    @Test
    void shouldCreateAJoinBesideOneThatSpills(@TempDir Path directory) {
        HeapReservations.Heap heap = new HeapReservations.Heap(4 << 20);
        HeapReservations large = new HeapReservations(MemoryReservations.unlimited(), heap);
        HeapReservations small = new HeapReservations(MemoryReservations.unlimited(), heap);
        try (SymmetricJoin spilling = join(large, directory)) {
            int id = 0;
            while (spilling.stats().spilledBytes() == 0 || large.availableBytes() >= 1 << 10) {
                spilling.load(0, rows(id, 10), 0);
                id += 10;
            }
            try (SymmetricJoin other = join(small, directory)) {
                other.load(0, rows(0, 100), 0);
                assertThat(other.stats().tableRows()).containsExactly(100L, 0L);
            }
        }
    }

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("value", ColumnType.INT64));

    private static SymmetricJoin join(MemoryReservations memory, Path directory) {
        return new CpuSymmetricJoinFactory()
                .create(
                        new SymmetricJoinSpec(input("l"), input("r"), BulkJoinKind.INNER),
                        MatchCondition.ALWAYS,
                        memory,
                        directory);
    }

    private static SymmetricInput input(String name) {
        int none = SymmetricInput.NONE;
        return new SymmetricInput(
                name,
                SCHEMA,
                0,
                none,
                none,
                none,
                RowIdentity.APPEND_ONLY,
                List.of(),
                SymmetricInput.FOREVER);
    }

    private static Chunk rows(long firstKey, int count) {
        ChunkBuilder rows = new ChunkBuilder(SCHEMA, 1 << 16);
        for (int i = 0; i < count; i++) {
            rows.putLong(0, firstKey + i);
            rows.putLong(1, i);
            rows.endRow();
        }
        return rows.seal(ChunkDescriptor.FACTS, 0, 0, 0);
    }
}
