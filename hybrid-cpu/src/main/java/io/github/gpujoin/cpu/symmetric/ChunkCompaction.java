// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.SymmetricJoin.AddedRows;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Copies rows out of the chunks of a table. A pass over a log begins when three quarters of its
 * rows are dead, and copies the rows of neighbours of which that is true to one new chunk in their
 * place. A pass is divided among the chunks that are joined meanwhile; it copies one row for three
 * dead ones at most, so its cost is a constant for each retraction.
 */
final class ChunkCompaction {

    private static final int TARGET_ROWS = 4096;
    private static final int COPIED_CHUNK_BYTES = 64 << 10;

    private final SideTable table;

    ChunkCompaction(SideTable table) {
        this.table = table;
    }

    /** Begins or continues a pass over a log. */
    void advance(ChunkLog log, int maxRows) {
        if (log.cursor == 0 && !log.isMostlyDead()) {
            return;
        }
        int copiedRows = 0;
        while (log.cursor < log.chunks.size() && copiedRows < maxRows) {
            KeptChunk kept = log.chunks.get(log.cursor);
            if (kept.isFreed() || !kept.isSparse()) {
                log.cursor++;
            } else {
                copiedRows += merge(log, log.cursor);
            }
        }
        if (log.cursor == log.chunks.size()) {
            log.dropFreed();
            log.cursor = 0;
        }
    }

    /** Merges neighbours from a sparse one on, moves the cursor behind them, returns their rows. */
    private int merge(ChunkLog log, int at) {
        List<KeptChunk> sparse = new ArrayList<>();
        int rows = 0;
        long timeMs = log.chunks.get(at).timeMs;
        for (; log.cursor < log.chunks.size() && rows < TARGET_ROWS; log.cursor++) {
            KeptChunk kept = log.chunks.get(log.cursor);
            if (!kept.isFreed()) {
                if (!kept.isSparse() || table.expires() && kept.timeMs != timeMs) {
                    break;
                }
                sparse.add(kept);
                rows += kept.liveRows;
                timeMs = kept.timeMs;
            }
        }
        if (rows > 0) {
            KeptChunk merged = table.ids.keep(copy(log, sparse, rows), log, timeMs);
            table.reserveLinks();
            log.rows += rows;
            log.chunks.set(at, merged);
            int to = 0;
            for (KeptChunk kept : sparse) {
                for (int row = 0; row < kept.chunk.rowCount(); row++) {
                    if (table.ids.isLive(kept.id(row))) {
                        table.move(kept.id(row), merged.id(to++));
                    }
                }
            }
        }
        sparse.forEach(table::free);
        return rows;
    }

    private Chunk copy(ChunkLog log, List<KeptChunk> sparse, int rows) {
        int rowBytes =
                table.input.schema().fixedRowBytes()
                        + 8 * table.input.schema().variableWidthColumnCount();
        ChunkBuilder builder = new ChunkBuilder(table.input.schema(), rows * rowBytes);
        for (KeptChunk kept : sparse) {
            for (int row = 0; row < kept.chunk.rowCount(); row++) {
                if (table.ids.isLive(kept.id(row))) {
                    builder.addRow(kept.chunk, row);
                }
            }
        }
        return builder.seal(ChunkDescriptor.FACTS, log.partition, 0, 0);
    }

    /**
     * Copies the rows of a log as {@link io.github.gpujoin.core.symmetric.SymmetricJoin#copyRows}.
     */
    void copyRows(ChunkLog log, Consumer<AddedRows> chunks) {
        ChunkBuilder builder = new ChunkBuilder(table.input.schema(), COPIED_CHUNK_BYTES);
        long timeMs = 0;
        for (KeptChunk kept : log.chunks) {
            if (kept.isFreed()) {
                continue;
            }
            if (table.expires() && kept.timeMs != timeMs) {
                flush(builder, log, timeMs, chunks);
            }
            timeMs = kept.timeMs;
            for (int row = 0; row < kept.chunk.rowCount(); row++) {
                int copies = table.isLive(kept, row) ? table.copies(kept.id(row)) : 0;
                for (int copy = 0; copy < copies; copy++) {
                    if (builder.isFull()) {
                        flush(builder, log, timeMs, chunks);
                    }
                    copyRow(builder, kept.chunk, row);
                }
            }
        }
        flush(builder, log, timeMs, chunks);
    }

    private void copyRow(ChunkBuilder builder, Chunk chunk, int row) {
        builder.putRow(chunk, row);
        if (table.input.isChangelog()) {
            builder.putInt(table.input.changeColumn(), ChangeKind.INSERT.code());
        }
        builder.endRow();
    }

    private static void flush(
            ChunkBuilder builder, ChunkLog log, long timeMs, Consumer<AddedRows> chunks) {
        if (!builder.isEmpty()) {
            Chunk chunk = builder.seal(ChunkDescriptor.FACTS, log.partition, 0, 0);
            chunks.accept(new AddedRows(chunk, timeMs));
        }
    }
}
