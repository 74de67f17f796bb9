// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.source.ColumnConditions;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import io.github.gpujoin.formats.RowConditions;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads the lines that start in one split. Used by one thread at a time. */
final class TextReader implements ColumnarReader {

    /** Lines without a match after which a chunk is returned, for a task that may be cancelled. */
    private static final int MAX_SKIPPED_LINES = 1 << 16;

    private final TextBlock block;
    private final LineDecoder decoder;
    private final LineScanner lines;

    private final RowConditions conditions;

    /** Offset in the file from which on lines belong to the next split. */
    private final long endOffset;

    /** Offset in the block of the first line that was not scanned. */
    private int next;

    /** Number of the first scanned line that was not decoded. */
    private int line;

    private TextReader(
            TextBlock block, LineDecoder decoder, ColumnConditions conditions, long endOffset) {
        this.block = block;
        this.decoder = decoder;
        this.lines = decoder.scanner();
        this.conditions = new RowConditions(conditions, decoder.schema(), decoder::canTest);
        this.endOffset = endOffset;
    }

    static TextReader open(
            TextBlock block,
            LineDecoder decoder,
            ColumnarSplit split,
            ColumnarPosition from,
            ColumnConditions conditions)
            throws IOException {
        TextReader reader = new TextReader(block, decoder, conditions, split.end());
        long start = Math.max(decoder.linesStart(), split.offset());
        if (!from.isStart()) {
            reader.restoreAt(from.offset(), split.fileBytes());
        } else if (start >= split.end() || start == decoder.linesStart()) {
            block.startAt(start);
        } else {
            // A line starts at the offset only if the byte before it ends one.
            block.startAt(start - 1);
            reader.skipLine();
        }
        return reader;
    }

    /** Starts at the offset of a checkpoint, which is that of a line or of the end of the file. */
    private void restoreAt(long offset, long fileBytes) throws IOException {
        if (offset == decoder.linesStart() || offset >= fileBytes) {
            block.startAt(offset);
            return;
        }
        block.startAt(offset - 1);
        if (!block.read(0) || block.bytes()[next++] != '\n') {
            throw new IOException(
                    "File has changed since the checkpoint: no line starts at offset=%d, file=%s"
                            .formatted(offset, block.path()));
        }
    }

    private void skipLine() throws IOException {
        do {
            while (next < block.end()) {
                if (block.bytes()[next++] == '\n') {
                    return;
                }
            }
            next = 0;
        } while (block.read(block.end()));
    }

    @Override
    public @Nullable Chunk read() throws IOException {
        long pause = decoder.rowsSkipped() + MAX_SKIPPED_LINES;
        while (!decoder.isFull() && decoder.rowsSkipped() < pause) {
            if (line == lines.lines() && !scan()) {
                return decoder.isEmpty() ? null : decoder.seal();
            }
            try {
                RowPruner pruner = conditions.pruner(decoder.next(line));
                line = decoder.decode(block.bytes(), line, pruner);
            } catch (BadLineException e) {
                throw block.malformed(block.offset() + e.lineStart(), e.getMessage());
            }
        }
        return decoder.seal();
    }

    /** Scans further lines; returns false at the end of the split. */
    private boolean scan() throws IOException {
        String problem = lines.problem();
        while (problem == null && block.offset() + next < endOffset) {
            int limit = (int) Math.min(Integer.MAX_VALUE, endOffset - block.offset());
            int from = next;
            lines.scan(block.bytes(), next, block.end(), limit);
            line = 0;
            next = lines.next();
            problem = lines.problem();
            if (lines.lines() > 0) {
                return true;
            }
            // Behind empty lines, the split may end before the block does.
            boolean isBlockScanned = problem == null && next == from;
            if (isBlockScanned && !readBlock()) {
                return false;
            }
        }
        if (problem != null) {
            throw block.malformed(block.offset() + next, problem);
        }
        return false;
    }

    private boolean readBlock() throws IOException {
        boolean isLineOpen = next < block.end();
        int kept = next;
        next = 0;
        if (block.read(kept)) {
            return true;
        }
        if (isLineOpen) {
            throw block.malformed(
                    block.offset(), "expected a closing quote before the end of the file");
        }
        return false;
    }

    @Override
    public long rowsSkipped() {
        return decoder.rowsSkipped();
    }

    @Override
    public ColumnarPosition position() {
        int start = line < lines.lines() ? lines.lineStart(line) : next;
        return new ColumnarPosition(block.offset() + start, 0);
    }

    @Override
    public void close() throws IOException {
        block.close();
    }
}
