// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.histogram.Histogram;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.explain.PartitionSummary;
import org.junit.jupiter.api.Test;

class BuildCountsTest {

    @Test
    void shouldLeaveOutPartitionsWithoutRows() {
        Histogram histogram = new Histogram(8);
        histogram.add(1, 10);
        histogram.add(4, 30);
        histogram.add(6, 20);
        assertThat(BuildCounts.summary(histogram)).isEqualTo(new PartitionSummary(3, 20, 30, 4));
    }

    @Test
    void shouldKnowNoPartitionWhereAllRowsAreReplicated() {
        Histogram histogram = new Histogram(8);
        histogram.add(ChunkDescriptor.UNPARTITIONED, 1_000);
        assertThat(BuildCounts.summary(histogram)).isEqualTo(PartitionSummary.NONE);
    }
}
