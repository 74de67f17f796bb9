// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartitionGroupsTest {

    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("key", ColumnType.INT64));

    private static Chunk seal(PartitionGroups groups, int group) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 64);
        builder.putLong(0, 1);
        builder.endRow();
        return groups.seal(builder, ChunkDescriptor.FACTS, group, 7, 9);
    }

    @ParameterizedTest(name = "{0} key groups, {1} subtasks")
    @CsvSource({"4096, 1", "4096, 2", "4096, 3", "4096, 4096", "300, 7", "32768, 100"})
    void shouldGroupPartitionsByTheSubtaskThatFlinkSendsThemTo(int partitions, int receivers) {
        PartitionGroups groups = PartitionGroups.ofReceivers(partitions, receivers);
        assertThat(groups.count()).isEqualTo(receivers);
        for (long key = 0; key < 1_000; key++) {
            int partition = RowPartitioner.of(key, partitions);
            Chunk chunk = seal(groups, groups.of(key));
            assertThat(chunk.hasManyPartitions()).isTrue();
            assertThat(chunk.epoch()).isEqualTo(7);
            assertThat(owner(chunk.partition(), partitions, receivers))
                    .isEqualTo(owner(partition, partitions, receivers));
        }
    }

    private static int owner(int partition, int partitions, int receivers) {
        return KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                partitions, receivers, partition);
    }

    @Test
    void shouldMakeChunksOfOnePartitionWhereReceiversAreUnknown() {
        PartitionGroups groups = PartitionGroups.ofPartitions(128);
        assertThat(groups.count()).isEqualTo(128);
        for (long key = 0; key < 1_000; key++) {
            Chunk chunk = seal(groups, groups.of(key));
            assertThat(chunk.hasManyPartitions()).isFalse();
            assertThat(chunk.partition()).isEqualTo(RowPartitioner.of(key, 128));
        }
    }

    @Test
    void shouldMakeChunksOfNoPartitionWithoutPartitions() {
        PartitionGroups groups = PartitionGroups.ofPartitions(0);
        assertThat(groups.count()).isEqualTo(1);
        assertThat(seal(groups, 0).partition()).isEqualTo(ChunkDescriptor.UNPARTITIONED);
    }
}
