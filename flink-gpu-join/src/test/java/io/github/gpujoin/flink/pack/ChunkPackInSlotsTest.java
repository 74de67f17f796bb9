// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static io.github.gpujoin.flink.pack.ChunkPackOperatorTest.FIXED;
import static io.github.gpujoin.flink.pack.ChunkPackOperatorTest.all;
import static io.github.gpujoin.flink.pack.ChunkPackOperatorTest.fixedChunk;
import static io.github.gpujoin.flink.pack.ChunkPackOperatorTest.packing;
import static io.github.gpujoin.flink.pack.ChunkPackOperatorTest.rows;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSlot;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.slot.SlotPool;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Chunks in slots that a {@link ChunkPackOperator} receives. */
class ChunkPackInSlotsTest {

    @ParameterizedTest(name = "{0} partitions, {1} filter")
    @CsvSource({"0,none", "0,all", "0,some", "16,none", "16,all", "16,some"})
    void shouldCopyAndReleaseChunksInSlotsThatItRepacks(int partitions, String filtered)
            throws Exception {
        PackSpec packing = packing(1 << 16);
        packing = partitions == 0 ? packing : packing.partitionedBy(0, partitions);
        ChunkProjection projection =
                ChunkProjection.of(FIXED, List.of("key", "id"), List.of("key"));
        Map<String, FilterFunction<RowView>> filters =
                Map.of("all", row -> false, "some", row -> row.getLong("id") % 3 == 0);
        List<Chunk> chunks = List.of(fixedChunk(500, 0, 0), fixedChunk(0, 0, 1));
        assertThat(repackedFromSlots(projection, filters.get(filtered), packing, chunks))
                .containsExactlyInAnyOrderElementsOf(
                        rows(chunks, List.of("key", "id")).stream()
                                .filter(
                                        row ->
                                                switch (filtered) {
                                                    case "all" -> false;
                                                    case "some" -> (long) row.get(1) % 3 == 0;
                                                    default -> true;
                                                })
                                .toList());
    }

    @ParameterizedTest(name = "dimension {0}")
    @ValueSource(ints = {ChunkDescriptor.FACTS, 4})
    void shouldCopyAndReleaseChunksInSlotsThatGoThroughTheChannel(int dimension) throws Exception {
        List<Chunk> chunks = List.of(fixedChunk(5, dimension, 77));
        assertThat(repackedFromSlots(all(FIXED, "key"), null, packing(1 << 16), chunks))
                .isEqualTo(rows(chunks, List.of("key", "id")));
    }

    /** Sends chunks in slots, and returns the rows that are emitted once all slots are free. */
    private static List<List<Object>> repackedFromSlots(
            ChunkProjection projection,
            FilterFunction<RowView> filter,
            PackSpec packing,
            List<Chunk> chunks)
            throws Exception {
        try (SlotPool pool = new SlotPool(Allocator.unlimited(), chunks.size(), 1 << 16);
                OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                        new OneInputStreamOperatorTestHarness<>(
                                new ChunkPackOperator(projection, filter, packing))) {
            // A serializer that copies nothing, so that a test sees the very chunk.
            harness.setup(ChunkPackOperatorTest.serializer(projection.schema()));
            harness.open();
            for (Chunk chunk : chunks) {
                byte[] bytes = chunk.bytes();
                ChunkSlot slot = pool.tryAcquire(bytes.length);
                Memory.copy(bytes, Memory.BYTES, null, slot.address(), bytes.length);
                Chunk inSlot = Chunk.inSlot(chunk.schema(), slot, bytes.length);
                harness.processElement(new StreamRecord<>(inSlot));
            }
            harness.endInput();
            assertThat(pool.freeCount()).isEqualTo(chunks.size());
            return rows(harness.extractOutputValues(), List.of("key", "id"));
        }
    }
}
