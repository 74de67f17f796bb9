// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyGroupTable;
import java.util.HashSet;
import java.util.Set;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PartitionKeysTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 100, 128, 4096})
    void shouldFindAKeyOfEveryKeyGroup(int maxParallelism) {
        KeyGroupTable table = PartitionKeys.tableFor(maxParallelism);
        for (int p = 0; p < maxParallelism; p++) {
            assertThat(KeyGroupRangeAssignment.assignToKeyGroup(table.keyOf(p), maxParallelism))
                    .isEqualTo(p);
        }
    }

    @ParameterizedTest
    @CsvSource({"128,636", "4096,31736"})
    void shouldTakeTheSmallestKeys(int maxParallelism, int candidates) {
        KeyGroupTable table = PartitionKeys.tableFor(maxParallelism);
        int largest = 0;
        for (int p = 0; p < maxParallelism; p++) {
            largest = Math.max(largest, table.keyOf(p));
        }
        assertThat(largest + 1).isEqualTo(candidates);
    }

    @Test
    void shouldSpreadChunksOfNoPartitionOverItsOwnKeyGroups() {
        PartitionKeys keys = new PartitionKeys(16, 3, 1);
        KeyGroupRange own = keys.ownPartitions();
        Set<Integer> groups = new HashSet<>();
        for (int i = 0; i < own.getNumberOfKeyGroups(); i++) {
            int key = keys.nextKeyFor(chunk(ChunkDescriptor.UNPARTITIONED));
            groups.add(KeyGroupRangeAssignment.assignToKeyGroup(key, 16));
        }
        assertThat(groups).containsExactlyInAnyOrderElementsOf(own);
    }

    @Test
    void shouldRejectAPartitionOfAnotherSubtask() {
        PartitionKeys keys = new PartitionKeys(16, 4, 0);
        assertThatThrownBy(() -> keys.nextKeyFor(chunk(15)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("partition=15");
    }

    private static Chunk chunk(int partition) {
        ChunkSchema schema = ChunkSchema.of(Column.of("key", ColumnType.INT64));
        return new ChunkBuilder(schema, 64).seal(0, partition, 0, 0);
    }
}
