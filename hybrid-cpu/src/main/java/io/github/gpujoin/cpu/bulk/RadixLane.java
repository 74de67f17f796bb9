// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What one thread of a {@link CpuRadixJoin} uses: its partitions of both inputs, a table, and a
 * writer of results. One thread at a time, except for {@link #memoryBytes()}.
 */
final class RadixLane implements AutoCloseable {

    private final BulkJoinSpec spec;
    private final RadixJoinOptions options;
    private final Allocator allocator;
    private final PagedMemory memory;
    private final Map<JoinSide, RadixPartitioner> partitioners = new EnumMap<>(JoinSide.class);
    private @Nullable PartitionTable table;
    private @Nullable ResultWriter writer;
    private volatile long memoryBytes;

    RadixLane(BulkJoinSpec spec, RadixJoinOptions options, Allocator allocator) {
        this.spec = spec;
        this.options = options;
        this.allocator = allocator;
        this.memory = new PagedMemory(allocator);
        for (JoinSide side : JoinSide.values()) {
            partitioners.put(side, new RadixPartitioner(spec, side, options.partitions(), memory));
        }
    }

    void append(JoinSide side, Chunk chunk) {
        partitioners.get(side).append(chunk);
        countMemory();
    }

    PartitionStore store(JoinSide side) {
        return partitioners.get(side).store();
    }

    Map<JoinSide, TupleLayout> layouts() {
        Map<JoinSide, TupleLayout> layouts = new EnumMap<>(JoinSide.class);
        partitioners.forEach((side, partitioner) -> layouts.put(side, partitioner.layout()));
        return layouts;
    }

    /**
     * Allocates all memory that the join of partitions needs.
     *
     * @param largest build side of a partition
     */
    void reserve(LargestBuild largest, ResultWriter.Receiver receiver) {
        boolean removes = !spec.kind().returnsPairs();
        boolean marks =
                spec.kind().returnsPairs()
                        && (spec.kind().keepsUnmatched(JoinSide.LEFT)
                                || spec.kind().keepsUnmatched(JoinSide.RIGHT));
        table = new PartitionTable(largest.tuples(), largest.bytes(), removes, marks, allocator);
        writer = writer(receiver);
        countMemory();
    }

    private ResultWriter writer(ResultWriter.Receiver receiver) {
        if (spec.output() instanceof BulkOutput.Groups groups) {
            return new GroupWriter(groups, layouts(), memory, receiver);
        }
        return spec.output() instanceof BulkOutput.Rows
                ? new RowWriter(spec, layouts(), options.resultChunkBytes(), receiver)
                : new CountWriter(receiver);
    }

    /**
     * Joins partitions until none is left.
     *
     * @param stores of each input, of all lanes
     * @param nextPartition counts the partitions that lanes have claimed
     */
    void join(Map<JoinSide, List<PartitionStore>> stores, AtomicInteger nextPartition)
            throws InterruptedException {
        PartitionJoin join =
                new PartitionJoin(spec, stores, layouts(), table, new MatchSink(writer));
        int nulls = options.partitions();
        for (int p = nextPartition.getAndIncrement();
                p <= nulls;
                p = nextPartition.getAndIncrement()) {
            if (p == nulls) {
                join.addUnmatched(p);
            } else {
                join.join(p);
            }
        }
        writer.finish();
    }

    private void countMemory() {
        memoryBytes = memory.lengthBytes() + (table == null ? 0 : table.lengthBytes());
    }

    /** Returns the memory of this lane, in bytes. */
    long memoryBytes() {
        return memoryBytes;
    }

    @Override
    public void close() {
        memory.close();
        if (table != null) {
            table.close();
            table = null;
        }
        countMemory();
    }
}
