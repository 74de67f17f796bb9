// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(RegionLeakExtension.class)
class PagedMemoryTest {

    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldReadInOrderAndFreePagesBehindTheCursor(long seed) {
        Random random = new Random(seed);
        List<Integer> expected = new ArrayList<>();
        long takenBytes = 0;
        try (PagedMemory memory = new PagedMemory()) {
            for (int i = 0; i < 5_000; i++) {
                int words = 1 + (random.nextInt(100) == 0 ? random.nextInt(9_000) : i % 7);
                long address = memory.allocate(4L * words);
                takenBytes += 4L * words;
                for (int w = 0; w < words; w++) {
                    Memory.putInt(address + 4L * w, i + w);
                    expected.add(i + w);
                }
            }
            assertThat(memory.lengthBytes()).isBetween(takenBytes, takenBytes * 3 / 2);
            for (long maxBytes : new long[] {4, 1_000, Long.MAX_VALUE}) {
                assertThat(integers(memory.cursor(), maxBytes)).isEqualTo(expected);
            }
            assertThat(integers(memory.drainingCursor(), 1_000)).isEqualTo(expected);
            assertThat(memory.lengthBytes()).isZero();
            assertThat(Region.openCount()).isZero();
        }
    }

    private static List<Integer> integers(PagedMemory.Cursor cursor, long maxBytes) {
        List<Integer> integers = new ArrayList<>();
        boolean hasMore = true;
        while (hasMore) {
            hasMore =
                    cursor.next(
                            maxBytes,
                            (address, lengthBytes) -> {
                                assertThat(lengthBytes).isLessThanOrEqualTo(maxBytes);
                                for (long at = address; at < address + lengthBytes; at += 4) {
                                    integers.add(Memory.getInt(at));
                                }
                            });
        }
        return integers;
    }
}
