// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;

/**
 * Rows of all groups in their order of arrival, until they are divided among the groups: a row is
 * written to one place, which stays in a core's cache, instead of one of many. Not thread-safe.
 */
final class StagedRows {

    /** Bytes of rows that fit in a core's second cache together with what they are copied to. */
    private static final int STAGED_BYTES = 64 << 10;

    private final ChunkSink sink;
    private final ChunkBuilder builder;
    private final RowPartitioner partitioner;
    private final ChunkKeys keys;
    private final ChunkCopier copier;
    private long arrivedAtMs;

    /**
     * @param packing partitioned
     */
    StagedRows(ChunkSchema schema, PackSpec packing, PartitionGroups groups, ChunkSink sink) {
        this.sink = sink;
        this.builder = new ChunkBuilder(schema, Math.min(packing.chunkBytes(), STAGED_BYTES));
        this.partitioner = new RowPartitioner(groups);
        this.keys = new ChunkKeys(schema, packing.partitionColumn());
        this.copier = new ChunkCopier(ChunkProjection.identity(schema));
    }

    /** Where to add rows. Never full. */
    ChunkBuilder builder() {
        return builder;
    }

    /** To be called after each row that is the first or fills the builder. */
    void added() {
        if (builder.rowCount() == 1) {
            arrivedAtMs = sink.rowsCome();
        }
        if (builder.isFull()) {
            divide();
        }
    }

    /** Copies all rows to the groups' builders, and emits what is full. */
    void divide() {
        if (builder.isEmpty()) {
            return;
        }
        Chunk rows = builder.sealTransient(0, ChunkDescriptor.UNPARTITIONED, 0, 0);
        keys.sort(rows, partitioner);
        for (int group = 0; group < partitioner.groups().count(); group++) {
            int next = partitioner.start(group);
            int end = partitioner.end(group);
            while (next < end) {
                ChunkBuilder target = sink.builder(group);
                int copied = copier.append(rows, partitioner.rows(), next, end - next, target);
                sink.added(group, copied, arrivedAtMs);
                next += copied;
            }
        }
    }
}
