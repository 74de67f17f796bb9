// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.histogram;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import org.junit.jupiter.api.Test;

class HistogramTest {

    @Test
    void shouldCountRowsByPartitionAndInTotal() {
        Histogram histogram = new Histogram(3);
        histogram.add(0, 5);
        histogram.add(2, 1);
        histogram.add(0, 2);
        histogram.add(ChunkDescriptor.UNPARTITIONED, 10);
        assertThat(histogram.partitions()).isEqualTo(3);
        assertThat(histogram.rows(0)).isEqualTo(7);
        assertThat(histogram.rows(1)).isZero();
        assertThat(histogram.rows(2)).isEqualTo(1);
        assertThat(histogram.total()).isEqualTo(18);
    }

    @Test
    void shouldMergeCounts() {
        Histogram left = new Histogram(2);
        Histogram right = new Histogram(2);
        left.add(0, 1);
        right.add(0, 10);
        right.add(1, 100);
        right.add(ChunkDescriptor.UNPARTITIONED, 1_000);
        left.merge(right);
        assertThat(left.rows(0)).isEqualTo(11);
        assertThat(left.rows(1)).isEqualTo(100);
        assertThat(left.total()).isEqualTo(1_111);
        assertThat(right.total()).as("the other is left alone").isEqualTo(1_110);
    }

    @Test
    void shouldMeasureSkewAsLargestOverMean() {
        Histogram histogram = new Histogram(4);
        assertThat(histogram.skew()).as("empty").isEqualTo(1);
        histogram.add(ChunkDescriptor.UNPARTITIONED, 9);
        assertThat(histogram.skew()).as("of no partition").isEqualTo(1);
        for (int partition = 0; partition < 4; partition++) {
            histogram.add(partition, 10);
        }
        assertThat(histogram.skew()).as("even").isEqualTo(1);
        histogram.add(3, 40);
        assertThat(histogram.skew()).isEqualTo(50.0 / 20);
        Histogram one = new Histogram(4);
        one.add(1, 3);
        assertThat(one.skew()).as("all in one").isEqualTo(4);
    }

    @Test
    void shouldRejectHistogramsWithOtherPartitions() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Histogram(2).merge(new Histogram(3)))
                .withMessageContaining("partitions=2, other=3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Histogram(0))
                .withMessageContaining("partitions=0");
    }
}
