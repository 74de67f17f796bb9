// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.histogram;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunningHistogramTest {

    @Test
    void shouldReturnSharesThatAddUpToOne() {
        RunningHistogram histogram = new RunningHistogram(3, 1_000);
        assertThat(histogram.partitions()).isEqualTo(3);
        assertThat(histogram.share(0)).as("before any row").isZero();
        histogram.add(0, 30);
        histogram.add(1, 10);
        assertThat(histogram.share(0)).isEqualTo(0.75);
        assertThat(histogram.share(1)).isEqualTo(0.25);
        assertThat(histogram.share(2)).isZero();
    }

    @Test
    void shouldFollowADriftWithinTwoWindows() {
        RunningHistogram histogram = new RunningHistogram(2, 1_000);
        for (int i = 0; i < 100_000; i++) {
            histogram.add(0, 1);
        }
        assertThat(histogram.share(0)).isEqualTo(1);
        for (int i = 0; i < 2_000; i++) {
            histogram.add(1, 1);
        }
        assertThat(histogram.share(1)).isGreaterThan(0.9);
    }

    @Test
    void shouldKeepSteadySharesSteady() {
        RunningHistogram histogram = new RunningHistogram(4, 10_000);
        for (int i = 0; i < 200_000; i++) {
            histogram.add(i % 10 < 7 ? 0 : i % 10 - 6, 1);
        }
        assertThat(histogram.share(0)).isCloseTo(0.7, within(0.01));
        assertThat(histogram.share(3)).isCloseTo(0.1, within(0.01));
    }

    @Test
    void shouldAcceptMoreThanAWindowAtOnce() {
        RunningHistogram histogram = new RunningHistogram(2, 8);
        histogram.add(0, Long.MAX_VALUE / 2);
        assertThat(histogram.share(0)).isEqualTo(1);
        RunningHistogram smallest = new RunningHistogram(2, 1);
        smallest.add(1, 1);
        assertThat(smallest.share(1)).as("a window of one row keeps nothing").isZero();
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "-1, 1", "1, 0", "1, -1"})
    void shouldRejectPartitionsOrWindowsThatAreNotPositive(int partitions, long windowRows) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RunningHistogram(partitions, windowRows))
                .withMessageContaining("partitions=" + partitions + ", windowRows=" + windowRows);
    }
}
