// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HeavyKeysTest {

    private static final long KEY = 7;
    private static final int ROWS = 1000;

    private final AtomicLong reserved = new AtomicLong();
    private final HeavyKeys keys = new HeavyKeys(reserved::addAndGet);

    private int[] idsOfKey() {
        HeavyKeys.Rows rows = keys.of(KEY);
        int[] ids = IntStream.range(0, rows.count()).map(rows::id).toArray();
        Arrays.sort(ids);
        return ids;
    }

    /** Each change removes the oldest row, and adds one whose id was free. */
    @Test
    void shouldNotGrowWithChangesOfKeyThatIsNotLookedUp() {
        keys.put(KEY, IntStream.range(0, ROWS).toArray());
        int ids = 2 * ROWS;
        for (int change = 0; change < 1000 * ROWS; change++) {
            keys.remove(new long[] {KEY}, new int[] {change % ids + 1}, 1);
            keys.add(new long[] {KEY}, new int[] {(change + ROWS) % ids + 1}, 1);
        }
        assertThat(keys.memoryBytes()).isEqualTo(reserved.get()).isLessThan(64 * ROWS);
        assertThat(idsOfKey()).isEqualTo(IntStream.range(0, ROWS).toArray());
    }

    @Test
    void shouldForgetKeyWhoseRowsWereRemoved() {
        keys.put(KEY, IntStream.range(0, ROWS).toArray());
        for (int id = 0; id < ROWS; id++) {
            keys.remove(new long[] {KEY}, new int[] {id + 1}, 1);
        }
        assertThat(keys.isEmpty()).isTrue();
        assertThat(reserved.get()).isZero();
    }
}
