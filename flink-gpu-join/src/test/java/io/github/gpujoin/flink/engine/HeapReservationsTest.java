// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tables with chunks on the heap use a part of it only. */
class HeapReservationsTest {

    @Test
    void shouldRefuseMoreThanTheHeapHasForAllTables() {
        AtomicLong used = new AtomicLong();
        HeapReservations first = new HeapReservations(MemoryReservations.unlimited(), used, 100);
        HeapReservations second = new HeapReservations(MemoryReservations.unlimited(), used, 100);
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
}
