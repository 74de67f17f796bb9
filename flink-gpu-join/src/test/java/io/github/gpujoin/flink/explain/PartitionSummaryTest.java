package io.github.gpujoin.flink.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.histogram.Histogram;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import org.junit.jupiter.api.Test;

class PartitionSummaryTest {

    @Test
    void shouldLeaveOutPartitionsWithoutRows() {
        Histogram histogram = new Histogram(8);
        histogram.add(1, 10);
        histogram.add(4, 30);
        histogram.add(6, 20);
        assertThat(PartitionSummary.of(histogram)).isEqualTo(new PartitionSummary(3, 20, 30, 4));
    }

    @Test
    void shouldKnowNoPartitionWhereAllRowsAreReplicated() {
        Histogram histogram = new Histogram(8);
        histogram.add(ChunkDescriptor.UNPARTITIONED, 1_000);
        assertThat(PartitionSummary.of(histogram)).isEqualTo(PartitionSummary.NONE);
    }
}
