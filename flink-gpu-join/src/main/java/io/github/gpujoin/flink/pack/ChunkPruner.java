// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.layout.Chunk;
import org.jspecify.annotations.Nullable;

/** Drops selected rows of chunks whose keys filters of facts reject. Not thread-safe. */
final class ChunkPruner {

    private final ChunkProjection projection;

    /** By packed column; made when a filter first tests it. */
    private final @Nullable ChunkKeyReader[] keys;

    /**
     * @param projection from the chunks to the packed columns, which filters name
     */
    ChunkPruner(ChunkProjection projection) {
        this.projection = projection;
        this.keys = new ChunkKeyReader[projection.schema().size()];
    }

    /**
     * Truncates a selection to the rows that may have results.
     *
     * @return number of dropped rows
     */
    int prune(Chunk chunk, RowPruner pruner, RowSelection selection) {
        int before = selection.size();
        int kept =
                pruner.select(
                        (column, condition, rows, count) ->
                                condition.select(keys(column).read(chunk), rows, 0, count, 0),
                        selection.own(),
                        before);
        selection.truncate(kept);
        return before - kept;
    }

    private ChunkKeyReader keys(int column) {
        ChunkKeyReader reader = keys[column];
        if (reader == null) {
            reader = new ChunkKeyReader(projection.source(), projection.sourceColumn(column));
            keys[column] = reader;
        }
        return reader;
    }
}
