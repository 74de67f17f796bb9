// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.KeyGroupTable;
import io.github.gpujoin.flink.state.PartitionKeys;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;

/**
 * Selects a key of key group p for a chunk of radix partition p, so that Flink sends the chunk to
 * the owner of p. A chunk without a partition may reach any subtask.
 */
final class PartitionKeySelector
        implements KeySelector<Chunk, Integer>, ResultTypeQueryable<Integer> {

    private static final long serialVersionUID = 1L;

    private final KeyGroupTable table;
    private final int partitions;

    PartitionKeySelector(int maxParallelism) {
        this.table = PartitionKeys.tableFor(maxParallelism);
        this.partitions = maxParallelism;
    }

    @Override
    public Integer getKey(Chunk chunk) {
        return table.keyOf(PartitionKeys.partitionOf(chunk, partitions));
    }

    @Override
    public TypeInformation<Integer> getProducedType() {
        return Types.INT;
    }
}
