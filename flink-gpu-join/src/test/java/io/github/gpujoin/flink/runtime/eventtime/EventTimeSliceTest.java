// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventTimeSliceTest {

    /** Rows of which the slices before have emitted a share. */
    private record Rows(long time, long lastTime, int waitingCount) implements TimedRows {}

    @Test
    void shouldEndAtTheWatermarkWhereFewRowsAreDue() {
        List<Rows> rows = List.of(new Rows(0, 1000, 50_000), new Rows(900, 5000, 1_000_000));

        assertThat(EventTimeSlice.end(rows, 800)).isEqualTo(800);
        assertThat(EventTimeSlice.end(List.of(), Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldDivideManyOverlappingChunksIntoFewSlices(long seed) {
        Random random = new Random(seed);
        List<Rows> waiting = new ArrayList<>();
        long total = 0;
        for (int chunk = 0; chunk < 2000; chunk++) {
            int count = 1 + random.nextInt(1000);
            waiting.add(new Rows(random.nextInt(1000), 1_000_000 + random.nextInt(1000), count));
            total += count;
        }

        int slices = 0;
        while (!waiting.isEmpty()) {
            long end = EventTimeSlice.end(waiting, Long.MAX_VALUE);
            waiting = after(waiting, end);
            slices++;
        }

        assertThat(slices).isBetween((int) (total / EventTimeSlice.ROWS / 2), 40);
    }

    @Test
    void shouldAdvanceWhereOneTimeHasMoreRowsThanASlice() {
        List<Rows> rows = List.of(new Rows(7, 7, 1_000_000), new Rows(7, 9, 1_000_000));

        assertThat(EventTimeSlice.end(rows, 100)).isEqualTo(7);
    }

    @Test
    void shouldDivideTimesThatAreFartherApartThanALong() {
        List<Rows> rows = List.of(new Rows(Long.MIN_VALUE + 1, Long.MAX_VALUE, 1_000_000));

        long end = EventTimeSlice.end(rows, Long.MAX_VALUE);

        assertThat(rows.get(0).countUpTo(end))
                .isBetween(EventTimeSlice.ROWS / 2.0, (double) EventTimeSlice.ROWS);
    }

    private static List<Rows> after(List<Rows> waiting, long end) {
        List<Rows> rest = new ArrayList<>();
        for (Rows rows : waiting) {
            int left = rows.waitingCount() - (int) rows.countUpTo(end);
            if (left > 0) {
                rest.add(new Rows(Math.max(rows.time(), end + 1), rows.lastTime(), left));
            }
        }
        return rest;
    }
}
