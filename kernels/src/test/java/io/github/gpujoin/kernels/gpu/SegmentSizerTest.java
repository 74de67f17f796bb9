// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SegmentSizerTest {

    private static final int MAX_ROWS = 16384;

    private final SegmentSizer sizer = new SegmentSizer(MAX_ROWS, MAX_ROWS);

    @Test
    void shouldFillSegmentsBeforeTheFirstMeasurement() {
        assertThat(sizer.rows()).isEqualTo(MAX_ROWS);
    }

    @Test
    void shouldFillSegmentsIfRowsHaveOneResultAtMost() {
        sizer.completed(1000, 1000);
        assertThat(sizer.rows()).isEqualTo(MAX_ROWS);
    }

    @ParameterizedTest(name = "{0} results a row")
    @ValueSource(ints = {2, 4, 16, 2000})
    void shouldKeepResultsOfASegmentWithinOneBuffer(int resultsPerRow) {
        sizer.completed(10_000, 10_000L * resultsPerRow);
        assertThat(sizer.rows() * resultsPerRow).isBetween(MAX_ROWS / 2, MAX_ROWS);
    }

    @ParameterizedTest(name = "{0} results a row")
    @ValueSource(ints = {2, 100, 1_000, 1_000_000})
    void shouldKeepAggregatedResultsOfASegmentWithinOneStep(int resultsPerRow) {
        int maxResults = 1 << 22;
        SegmentSizer adding = new SegmentSizer(MAX_ROWS, maxResults);
        adding.completed(10_000, 10_000L * resultsPerRow);
        long mostResults = Math.min((long) MAX_ROWS * resultsPerRow, maxResults);
        assertThat((long) adding.rows() * resultsPerRow).isBetween(mostResults / 2, mostResults);
    }

    @Test
    void shouldFillASegmentWithOneRowForAnyFanOut() {
        sizer.completed(1, 1L << 40);
        assertThat(sizer.rows()).isEqualTo(1);
    }

    @Test
    void shouldForgetOldMeasurements() {
        sizer.completed(100_000, 1_600_000);
        for (int i = 0; i < 100; i++) {
            sizer.completed(100_000, 50_000);
        }
        assertThat(sizer.rows()).isEqualTo(MAX_ROWS);
    }
}
