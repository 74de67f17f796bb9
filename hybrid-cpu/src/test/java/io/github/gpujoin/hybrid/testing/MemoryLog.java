// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid.testing;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.hybrid.BuildChunks;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Build chunks on the heap. */
public final class MemoryLog implements BuildChunks {

    private final int partitionedDimension;
    private final List<Chunk> replicated = new ArrayList<>();
    private final Map<Integer, List<Chunk>> partitions = new HashMap<>();

    public MemoryLog(int partitionedDimension) {
        this.partitionedDimension = partitionedDimension;
    }

    public void add(int dimension, Chunk chunk) {
        if (dimension == partitionedDimension) {
            partitions.computeIfAbsent(partition(chunk), p -> new ArrayList<>()).add(chunk);
        } else {
            replicated.add(chunk);
        }
    }

    private static int partition(Chunk chunk) {
        return chunk.partition() == ChunkDescriptor.UNPARTITIONED ? 0 : chunk.partition();
    }

    /** Returns the partitioned dimension of test data: the last one. */
    public static int partitionedDimension(JoinSpec spec) {
        return spec.dimensions().size() - 1;
    }

    @Override
    public Iterator<Chunk> replicated() {
        return replicated.iterator();
    }

    @Override
    public long count(int partition) {
        return partitions.getOrDefault(partition, List.of()).size();
    }

    @Override
    public Chunk get(int partition, long index) {
        return partitions.get(partition).get((int) index);
    }
}
