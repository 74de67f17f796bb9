// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.filter.SourceConditions;
import io.github.gpujoin.flink.record.UnreadableRecordException;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/**
 * Packs columnar chunks: filters and partitions their rows and selects columns. If there is nothing
 * to do, it forwards the chunk, at most with another header.
 */
public final class ChunkPackOperator extends AbstractPackOperator<Chunk, RowView> {

    private static final long serialVersionUID = 1L;

    /** A chunk that travels by reference is copied only if a filter drops half of its facts. */
    private static final double MAX_KEPT_SHARE_BY_REFERENCE = 0.5;

    private final ChunkProjection projection;

    private transient ChunkCursor cursor;
    private transient RowCounts rowCounts;
    private transient ChunkCopier copier;
    private transient @Nullable ChunkKeys keys;
    private transient @Nullable RowPartitioner partitioner;
    private transient RowSelection selection;

    private transient @Nullable SourceConditions announced;

    private transient ChunkPruner chunkPruner;

    /**
     * @param filter of rows as they come in, with all their columns; null to keep all
     * @throws IllegalArgumentException if the packing's partition column is not a key
     */
    public ChunkPackOperator(
            ChunkProjection projection,
            @Nullable FilterFunction<RowView> filter,
            PackSpec packing) {
        super(projection.schema(), filter, packing);
        this.projection = projection;
    }

    @Override
    public void open() throws Exception {
        super.open();
        cursor = new ChunkCursor(projection.source());
        rowCounts = new RowCounts(this);
        copier = projection.copier();
        selection = new RowSelection();
        chunkPruner = new ChunkPruner(projection);
        announced =
                filters.announce(
                        column -> {
                            int source = projection.sourceColumn(column);
                            return projection.source().column(source).name();
                        },
                        getMetricGroup());
        onPackingChanged();
    }

    @Override
    void onPackingChanged() {
        keys = null;
        partitioner = null;
        if (packing.isPartitioned()) {
            int key = projection.sourceColumn(packing.partitionColumn());
            keys = new ChunkKeys(projection.source(), key);
            partitioner = new RowPartitioner(groups);
        }
    }

    @Override
    public void processElement(StreamRecord<Chunk> element) {
        Chunk chunk = element.getValue();
        if (!projection.source().equals(chunk.schema())) {
            throw new IllegalArgumentException(
                    "A chunk has another schema than its stream: side=%s, expected=%s, schema=%s.\nDeclare the stream with .returns(ChunkTypeInfo.of(schema)) of its chunks."
                            .formatted(packing.side(), projection.source(), chunk.schema()));
        }
        rowsIn.inc(chunk.rowCount());
        rowCounts.received(chunk);
        double maxKeptShare = passesThrough() ? MAX_KEPT_SHARE_BY_REFERENCE : MAX_KEPT_SHARE;
        RowPruner pruner = filters.pruner(chunk.rowCount(), maxKeptShare, Long.MAX_VALUE);
        if (chunk.rowCount() > 0 && passesThrough() && pruner == null) {
            sink.forward(chunk);
            return;
        }
        try {
            if (chunk.rowCount() > 0) {
                pack(chunk, pruner);
            }
        } finally {
            chunk.release();
        }
    }

    private void pack(Chunk chunk, @Nullable RowPruner pruner) {
        boolean keepsAll = !hasFilter() && projection.nullableKeys().length == 0;
        if (keepsAll && partitioner != null && pruner == null) {
            keys.sort(chunk, partitioner);
            appendGroups(chunk);
            return;
        }
        select(chunk, keepsAll);
        if (pruner != null) {
            rowsPruned.inc(chunkPruner.prune(chunk, pruner, selection));
        }
        if (partitioner == null) {
            append(chunk, 0, selection.rows(), 0, selection.size());
            return;
        }
        keys.sort(chunk, selection, partitioner);
        appendGroups(chunk);
    }

    private void appendGroups(Chunk chunk) {
        for (int g = 0; g < groups.count(); g++) {
            append(chunk, g, partitioner.rows(), partitioner.start(g), partitioner.end(g));
        }
    }

    private boolean passesThrough() {
        return !hasFilter() && projection.isIdentity() && !packing.isPartitioned();
    }

    /** Selects the rows that pass the filter and have no key that must not be null. */
    private void select(Chunk chunk, boolean keepsAll) {
        int rowCount = chunk.rowCount();
        boolean filters = hasFilter();
        if (keepsAll) {
            selection.selectAll(rowCount);
            return;
        }
        int filtered = 0;
        int nullKeys = 0;
        selection.clear(rowCount);
        for (int row = 0; row < rowCount; row++) {
            boolean kept;
            try {
                kept = !filters || keeps(cursor.at(chunk, row));
            } catch (UnreadableRecordException e) {
                bad("row " + row + " of a chunk", e);
                continue;
            }
            if (!kept) {
                filtered++;
            } else if (hasNullKey(chunk, row)) {
                nullKeys++;
            } else {
                selection.add(row);
            }
        }
        rowsFiltered.inc(filtered);
        nullKeyRows.inc(nullKeys);
    }

    /** Whether the row is dropped because a key is null. */
    private boolean hasNullKey(Chunk chunk, int row) {
        for (int column : projection.nullableKeys()) {
            if (projection.nullKeyBits(column) == 0 && cursor.at(chunk, row).isNull(column)) {
                return true;
            }
        }
        return false;
    }

    private void append(Chunk chunk, int group, int[] rows, int from, int end) {
        int next = from;
        while (next < end) {
            ChunkBuilder builder = sink.builder(group);
            int appended = copier.append(chunk, rows, next, end - next, builder);
            sink.added(group, appended, sink.nowMs());
            next += appended;
        }
    }

    @Override
    public void close() throws Exception {
        if (announced != null) {
            announced.withdraw();
        }
        super.close();
    }
}
