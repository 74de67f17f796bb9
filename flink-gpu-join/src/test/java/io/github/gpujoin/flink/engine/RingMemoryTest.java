// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.memory.MemoryManager;
import org.junit.jupiter.api.Test;

class RingMemoryTest {

    private static final long MIB = 1 << 20;

    private final MemoryManager manager =
            MemoryManager.create(8 * MIB, MemoryManager.MIN_PAGE_SIZE);

    @Test
    void shouldReserveRingsUntilTheyAreClosed() {
        RingMemory rings = RingMemory.reserve(new SlotMemory(manager, 8 * MIB), 3 * MIB);
        assertThat(rings.lengthBytes()).isEqualTo(3 * MIB);
        assertThat(manager.availableMemory()).isEqualTo(5 * MIB);
        rings.close();
        rings.close();
        assertThat(manager.verifyEmpty()).isTrue();
    }

    @Test
    void shouldRefuseRingsThatDoNotFitTheShare() {
        assertThatExceptionOfType(SuppressRestartsException.class)
                .isThrownBy(() -> RingMemory.reserve(new SlotMemory(manager, 4 * MIB), 4 * MIB + 1))
                .havingCause()
                .withMessageContaining("neededBytes=4194305, availableBytes=4194304")
                .withMessageContaining("taskmanager.memory.managed.size")
                .withMessageContaining("gpu-join.ring.slots")
                .withMessageContaining("gpu-join.transport: flink");
        assertThat(manager.verifyEmpty()).isTrue();
    }

    @Test
    void shouldLeaveTablesWhatRingsDoNotTake() {
        SlotMemory share = new SlotMemory(manager, 6 * MIB);
        try (RingMemory rings = RingMemory.reserve(share, 2 * MIB);
                JoinMemory.Part tables =
                        JoinMemory.own(share.forTables(rings.lengthBytes(), Long.MAX_VALUE))) {
            assertThat(tables.memory().availableBytes()).isEqualTo(4 * MIB);
        }
    }

    @Test
    void shouldNotCountRingsInTheCapOfTables() {
        SlotMemory share = new SlotMemory(manager, 6 * MIB);
        try (RingMemory rings = RingMemory.reserve(share, 2 * MIB);
                JoinMemory.Part tables =
                        JoinMemory.own(share.forTables(rings.lengthBytes(), 3 * MIB))) {
            assertThat(tables.memory().availableBytes()).isEqualTo(3 * MIB);
        }
    }
}
