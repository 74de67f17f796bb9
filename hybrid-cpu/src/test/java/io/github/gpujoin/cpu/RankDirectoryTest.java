// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(RegionLeakExtension.class)
class RankDirectoryTest {

    private static final long BASE = 1_000;
    private static final long STRIDE = 24;

    @ParameterizedTest(name = "slots={0}, occupied of 100={1}, seed={2}")
    @CsvSource({"1, 0, 1", "1, 100, 2", "31, 50, 3", "32, 100, 4", "33, 100, 5", "5000, 12, 6"})
    void shouldRankOccupiedSlots(int slots, int occupiedOf100, long seed) {
        Random random = new Random(seed);
        BitSet occupied = new BitSet();
        try (RankDirectory directory = new RankDirectory(slots, Allocator.unlimited())) {
            directory.clearing().finish();
            for (int i = 0; i < slots * occupiedOf100 / 100; i++) {
                int slot = random.nextInt(slots);
                assertThat(directory.occupyIfFree(slot)).isEqualTo(occupied.get(slot) ? 0 : 1);
                occupied.set(slot);
            }
            directory.sealing().finish();
            for (int slot = 0; slot < slots; slot++) {
                assertThat(directory.isOccupied(slot)).isEqualTo(occupied.get(slot));
                assertThat(directory.rank(slot)).isEqualTo(occupied.get(0, slot).cardinality());
            }
            assertFindsOccupied(directory, occupied, random.ints(999, 0, slots).toArray());
        }
    }

    private static void assertFindsOccupied(RankDirectory directory, BitSet occupied, int[] asked) {
        List<Integer> origins = new ArrayList<>();
        List<Long> elements = new ArrayList<>();
        for (int i = 0; i < asked.length; i++) {
            if (occupied.get(asked[i])) {
                origins.add(7 + i);
                elements.add(BASE + STRIDE * occupied.get(0, asked[i]).cardinality());
            }
        }
        int n = asked.length;
        try (Region memory = Region.allocate(24L * n)) {
            long slots = memory.address();
            long foundOrigins = slots + 4L * n;
            long scratch = foundOrigins + 4L * n;
            long foundElements = scratch + 8L * n;
            for (int i = 0; i < n; i++) {
                Memory.putInt(slots + 4L * i, asked[i]);
            }
            int found =
                    directory.findOccupied(
                            slots, n, scratch, 7, foundOrigins, foundElements, BASE, STRIDE);
            assertThat(found).isEqualTo(origins.size());
            for (int i = 0; i < found; i++) {
                assertThat(Memory.getInt(foundOrigins + 4L * i)).isEqualTo(origins.get(i));
                assertThat(Memory.getLong(foundElements + 8L * i)).isEqualTo(elements.get(i));
            }
        }
    }
}
