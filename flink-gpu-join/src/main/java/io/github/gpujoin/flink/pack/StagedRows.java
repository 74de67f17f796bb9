// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import org.jspecify.annotations.Nullable;

/**
 * Rows of all groups in their order of arrival, until they are divided among the groups: a row is
 * written to one place, which stays in a core's cache, instead of one of many. Filters of facts
 * test the keys of all staged rows at once, so that the reads of a filter larger than the cache
 * overlap. Not thread-safe.
 */
final class StagedRows {

    /** Bytes of rows that fit in a core's second cache together with what they are copied to. */
    private static final int STAGED_BYTES = 64 << 10;

    private final ChunkSink sink;
    private final ChunkBuilder builder;
    private final @Nullable RowPartitioner partitioner;
    private final @Nullable ChunkKeys keys;
    private final ChunkCopier copier;
    private final RowSelection selection = new RowSelection();
    private final ChunkPruner chunkPruner;
    private long arrivedAtMs;
    private long rowBytes;

    StagedRows(ChunkSchema schema, PackSpec packing, PartitionGroups groups, ChunkSink sink) {
        this.sink = sink;
        this.builder = new ChunkBuilder(schema, Math.min(packing.chunkBytes(), STAGED_BYTES));
        this.partitioner = packing.isPartitioned() ? new RowPartitioner(groups) : null;
        this.keys =
                packing.isPartitioned() ? new ChunkKeys(schema, packing.partitionColumn()) : null;
        ChunkProjection projection = ChunkProjection.identity(schema);
        this.copier = projection.copier();
        this.chunkPruner = new ChunkPruner(projection);
    }

    /** Where to add rows. Never full. */
    ChunkBuilder builder() {
        return builder;
    }

    int rowCount() {
        return builder.rowCount();
    }

    /** Returns the mean length in bytes of the rows that were divided last. */
    long rowBytes() {
        return rowBytes;
    }

    /** To be called after the first row was added. */
    void addedFirst() {
        arrivedAtMs = sink.rowsCome();
    }

    /**
     * Copies the rows, of which there must be some, to the groups' builders, and emits what is
     * full.
     *
     * @param pruner drops rows without results; null to keep all
     * @return number of dropped rows
     */
    int divide(@Nullable RowPruner pruner) {
        int rowCount = builder.rowCount();
        Chunk rows = builder.sealTransient(0, ChunkDescriptor.UNPARTITIONED, 0, 0);
        rowBytes = rows.lengthBytes() / rowCount;
        selection.selectAll(rowCount);
        int dropped = pruner == null ? 0 : chunkPruner.prune(rows, pruner, selection);
        if (partitioner == null) {
            append(rows, 0, selection.rows(), 0, selection.size());
        } else {
            if (dropped == 0) {
                keys.sort(rows, partitioner);
            } else {
                keys.sort(rows, selection, partitioner);
            }
            for (int group = 0; group < partitioner.groups().count(); group++) {
                append(
                        rows,
                        group,
                        partitioner.rows(),
                        partitioner.start(group),
                        partitioner.end(group));
            }
        }
        return dropped;
    }

    private void append(Chunk rows, int group, int[] numbers, int from, int end) {
        int next = from;
        while (next < end) {
            ChunkBuilder target = sink.builder(group);
            int copied = copier.append(rows, numbers, next, end - next, target);
            sink.added(group, copied, arrivedAtMs);
            next += copied;
        }
    }
}
