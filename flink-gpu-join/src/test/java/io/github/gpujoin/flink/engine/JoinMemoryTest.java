// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.MemoryRefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.memory.MemoryManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JoinMemoryTest {

    private static final long MIB = 1 << 20;
    private static final long SLOT_BYTES = 8 * MIB;

    private final SharedTables.Scope scope = new SharedTables.Scope(new JobID(), new OperatorID());

    private static MemoryManager slot() {
        return MemoryManager.create(SLOT_BYTES, MemoryManager.MIN_PAGE_SIZE);
    }

    private static SlotMemory shareOf(MemoryManager slot) {
        return new SlotMemory(slot, SLOT_BYTES);
    }

    private static long reservedBytes(MemoryManager slot) {
        return slot.getMemorySize() - slot.availableMemory();
    }

    @Test
    void shouldReserveInPortions() {
        MemoryManager slot = slot();
        try (JoinMemory.Part part = JoinMemory.own(shareOf(slot))) {
            part.memory().reserve(1);
            assertThat(reservedBytes(slot)).isEqualTo(JoinMemory.PORTION_BYTES);
            part.memory().reserve(JoinMemory.PORTION_BYTES - 1);
            assertThat(reservedBytes(slot)).isEqualTo(JoinMemory.PORTION_BYTES);
            part.memory().release(JoinMemory.PORTION_BYTES);
        }
        assertThat(slot.verifyEmpty()).isTrue();
    }

    @Test
    void shouldReserveTheLastBytesOfAShareThatIsNoMultipleOfAPortion() {
        MemoryManager slot = slot();
        try (JoinMemory.Part part = JoinMemory.own(new SlotMemory(slot, 3 * MIB / 2))) {
            part.memory().reserve(3 * MIB / 2);
            assertThat(reservedBytes(slot)).isEqualTo(3 * MIB / 2);
            assertThat(part.memory().availableBytes()).isZero();
            part.memory().release(3 * MIB / 2);
        }
        assertThat(slot.verifyEmpty()).isTrue();
    }

    @Test
    void shouldNameTheOptionsWhenTheShareIsUsedUp() {
        try (JoinMemory.Part part = JoinMemory.own(new SlotMemory(slot(), 2 * MIB))) {
            part.memory().reserve(MIB);
            assertThatExceptionOfType(MemoryRefusedException.class)
                    .isThrownBy(() -> part.memory().reserve(MIB + 1))
                    .withMessageContaining(
                            "neededBytes=1048577, usedBytes=1048576, limitBytes=2097152, slots=1")
                    .withMessageContaining("Raise taskmanager.memory.managed.size")
                    .withMessageContaining("gpu-join.cpu.memory");
            assertThat(part.memory().availableBytes()).isEqualTo(MIB);
            part.memory().release(MIB);
        }
    }

    @Test
    void shouldRefuseWhatOtherOperatorsOfTheSlotHaveReserved() throws Exception {
        MemoryManager slot = slot();
        slot.reserveMemory(this, SLOT_BYTES - MIB);
        try (JoinMemory.Part part = JoinMemory.own(shareOf(slot))) {
            assertThat(part.memory().availableBytes()).isEqualTo(MIB);
            assertThatExceptionOfType(MemoryRefusedException.class)
                    .isThrownBy(() -> part.memory().reserve(2 * MIB));
            assertThat(slot.availableMemory()).isEqualTo(MIB);
        }
    }

    @Test
    void shouldRefuseEverythingWithoutManagedMemory() {
        try (JoinMemory.Part part = JoinMemory.own(new SlotMemory(slot(), 0))) {
            assertThatExceptionOfType(MemoryRefusedException.class)
                    .isThrownBy(() -> part.memory().reserve(1))
                    .withMessageContaining("limitBytes=0");
        }
    }

    @Test
    void shouldChargeSharedTablesToAllSlotsThatUseThem() {
        MemoryManager first = slot();
        MemoryManager second = slot();
        try (JoinMemory.Part one = JoinMemory.shared(scope, shareOf(first));
                JoinMemory.Part other = JoinMemory.shared(scope, shareOf(second))) {
            assertThat(other.memory()).isSameAs(one.memory());
            one.memory().reserve(12 * MIB);
            assertThat(reservedBytes(first)).isEqualTo(SLOT_BYTES);
            assertThat(reservedBytes(second)).isEqualTo(4 * MIB);
            other.memory().release(12 * MIB);
        }
        assertThat(first.verifyEmpty()).isTrue();
        assertThat(second.verifyEmpty()).isTrue();
    }

    @Test
    void shouldPassTheChargeOfAClosedSubtaskOnToTheOthers() {
        MemoryManager first = slot();
        MemoryManager second = slot();
        try (JoinMemory.Part other = JoinMemory.shared(scope, shareOf(second))) {
            try (JoinMemory.Part one = JoinMemory.shared(scope, shareOf(first))) {
                one.memory().reserve(10 * MIB);
            }
            // Nothing is counted twice, and nothing is not counted.
            assertThat(reservedBytes(first) + reservedBytes(second)).isEqualTo(10 * MIB);
            assertThat(reservedBytes(second)).isEqualTo(SLOT_BYTES);
            other.memory().release(10 * MIB);
        }
        assertThat(first.verifyEmpty()).isTrue();
        assertThat(second.verifyEmpty()).isTrue();
    }

    /** As with copies of chunks that a subtask of another memory still uses. */
    @Test
    void shouldReleaseWhatIsUsedBeyondTheLastSubtask() {
        MemoryManager manager = MemoryManager.create(8 << 20, MemoryManager.MIN_PAGE_SIZE);
        JoinMemory.Part part = JoinMemory.own(new SlotMemory(manager, 8 << 20));
        part.memory().reserve(32_000);
        part.memory().reserve(32_000);
        part.close();
        part.memory().release(32_000);
        assertThat(manager.availableMemory()).isEqualTo((8 << 20) - 32_000);
        part.memory().release(32_000);
        assertThat(manager.verifyEmpty()).isTrue();
    }

    @Test
    void shouldSurviveThatFlinkFreesTheSlotOfAClosedSubtask() {
        MemoryManager first = slot();
        MemoryManager second = slot();
        try (JoinMemory.Part other = JoinMemory.shared(scope, shareOf(second))) {
            JoinMemory.shared(scope, shareOf(first)).close();
            try (JoinMemory.Part one = JoinMemory.shared(scope, shareOf(first))) {
                one.memory().reserve(16 * MIB);
            }
            first.shutdown();
            other.memory().release(16 * MIB);
        }
        assertThat(second.verifyEmpty()).isTrue();
    }

    /** Two slots of two jobs: each job is refused by its own slot, whatever the other one does. */
    @Test
    void shouldKeepJoinsOfDifferentJobsApart() {
        MemoryManager first = slot();
        MemoryManager second = slot();
        SharedTables.Scope otherJob = new SharedTables.Scope(new JobID(), scope.operator());
        try (JoinMemory.Part one = JoinMemory.shared(scope, shareOf(first));
                JoinMemory.Part other = JoinMemory.shared(otherJob, shareOf(second))) {
            one.memory().reserve(SLOT_BYTES);
            assertThatExceptionOfType(MemoryRefusedException.class)
                    .isThrownBy(() -> one.memory().reserve(1));
            other.memory().reserve(SLOT_BYTES);
            one.memory().release(SLOT_BYTES);
            other.memory().release(SLOT_BYTES);
        }
    }

    /** What is reserved of the slots always covers what is used, with little to spare. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldReserveWhatIsUsedWhoeverComesAndLeaves(long seed) {
        Random random = new Random(seed);
        List<MemoryManager> managers = List.of(slot(), slot(), slot());
        List<JoinMemory.Part> parts = new ArrayList<>();
        managers.forEach(slot -> parts.add(JoinMemory.shared(scope, shareOf(slot))));
        JoinMemory memory = parts.get(0).memory();
        List<Long> regions = new ArrayList<>();
        for (int step = 0; step < 500; step++) {
            if (random.nextInt(100) == 0 && parts.size() > 1) {
                parts.remove(random.nextInt(parts.size())).close();
            } else if (random.nextBoolean() || regions.isEmpty()) {
                long bytes = random.nextInt((int) (2 * MIB));
                try {
                    memory.reserve(bytes);
                    regions.add(bytes);
                } catch (MemoryRefusedException full) {
                    assertThat(memory.availableBytes()).isLessThan(bytes);
                }
            } else {
                memory.release(regions.remove(random.nextInt(regions.size())));
            }
            long usedBytes = regions.stream().mapToLong(Long::longValue).sum();
            long reservedBytes = managers.stream().mapToLong(JoinMemoryTest::reservedBytes).sum();
            assertThat(reservedBytes).isBetween(usedBytes, usedBytes + 2 * MIB);
        }
        regions.forEach(memory::release);
        parts.forEach(JoinMemory.Part::close);
        assertThat(managers).allMatch(MemoryManager::verifyEmpty);
    }

    @Test
    void shouldShareCodesOfTextGroupsAndReleaseTheirHeapWithTheLastSubtask() {
        ChunkSchema facts = ChunkSchema.of(Column.of("key", ColumnType.INT64));
        ChunkSchema cities =
                ChunkSchema.of(
                        Column.of("id", ColumnType.INT64), Column.of("city", ColumnType.STRING));
        JoinSpec spec =
                new JoinSpec(
                        facts,
                        List.of(new DimensionSpec("cities", cities, 0, 0, JoinKind.INNER)),
                        List.of(),
                        new Aggregation(List.of(new JoinColumn(0, 1)), List.of(Aggregate.count())));
        Chunk paris = TestChunks.of(cities, 0, List.<Object[]>of(new Object[] {1L, "Paris"}));
        Chunk rome = TestChunks.of(cities, 0, List.<Object[]>of(new Object[] {2L, "Rome"}));
        MemoryManager first = slot();
        MemoryManager second = slot();
        long freeBytes = TextMemory.SHARED.availableBytes();
        JoinMemory.Part one = JoinMemory.shared(scope, shareOf(first));
        try (JoinMemory.Part other = JoinMemory.shared(scope, shareOf(second))) {
            Chunk coded = one.memory().groupCodes(spec).encode(paris);
            other.memory().groupCodes(spec).encode(rome);
            assertThat(other.memory().groupCodes(spec).encode(paris)).isEqualTo(coded);
            assertThat(List.of(first, second))
                    .as("texts are not in managed memory")
                    .allMatch(MemoryManager::verifyEmpty);
            one.close();
            assertThat(TextMemory.SHARED.availableBytes()).isLessThan(freeBytes);
        }
        assertThat(TextMemory.SHARED.availableBytes()).isEqualTo(freeBytes);
        try (JoinMemory.Part own = JoinMemory.own(shareOf(first))) {
            Chunk coded = own.memory().groupCodes(spec).encode(rome);
            assertThat(coded.getInt(1, 0)).as("a dictionary of its own").isZero();
        }
    }
}
