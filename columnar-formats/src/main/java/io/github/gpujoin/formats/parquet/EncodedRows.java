// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static io.github.gpujoin.core.encoding.EncodedColumnDescriptor.MAX_DICTIONARY_SIZE;

import io.github.gpujoin.core.encoding.EncodedChunkAssembler;
import io.github.gpujoin.core.encoding.PackedCodes;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.io.IOException;
import java.util.Arrays;

/**
 * Reads all rows of a range to one chunk, column by column. The codes and runs of a dictionary go
 * to the chunk as they are, with the dictionary; other pages are decoded. Not thread-safe.
 */
final class EncodedRows {

    /** A chunk is encoded if that saves at least this share of its bytes. */
    private static final double MIN_SAVED_SHARE = 0.125;

    /** Runs of fewer rows on average are not worth a look at their lengths. */
    private static final int MIN_RUN_ROWS = 2;

    private final ChunkSchema schema;
    private final int maxRows;
    private final EncodedChunkAssembler assembler;
    private final PackedCodes codes = new PackedCodes();
    private ColumnPages[] columns = new ColumnPages[0];

    /** Whether a column's pages have codes only, as far as is known. */
    private boolean[] isCoded = new boolean[0];

    private String decoding = "";

    /**
     * @param schema of fixed-width columns
     * @param maxRows of a chunk
     */
    EncodedRows(ChunkSchema schema, int maxRows) {
        this.schema = schema;
        this.maxRows = maxRows;
        this.assembler = new EncodedChunkAssembler(schema);
    }

    /**
     * Starts to read other pages.
     *
     * @param pages of each column of the schema; none if all rows are skipped
     */
    void startPages(ColumnPages[] pages) {
        columns = pages;
        isCoded = new boolean[pages.length];
        Arrays.fill(isCoded, true);
    }

    /** Whether chunks of codes would be clearly shorter than plain ones. */
    boolean pays() {
        long plainBytes = 0;
        long savedBytes = 0;
        for (int i = 0; i < columns.length; i++) {
            plainBytes += (long) maxRows * widthBytes(i);
            savedBytes += savedBytes(i, maxRows);
        }
        return savedBytes > MIN_SAVED_SHARE * plainBytes;
    }

    /** Returns the bytes that codes and their dictionary save, or 0. */
    private long savedBytes(int column, int rows) {
        DictionaryDecoder.Values dictionary = columns[column].dictionary();
        if (!isCoded[column] || dictionary == null || dictionary.size() > MAX_DICTIONARY_SIZE) {
            return 0;
        }
        long coded = dictionary.codedBytes(rows, widthBytes(column));
        return Math.max(0, (long) rows * widthBytes(column) - coded);
    }

    private int widthBytes(int column) {
        return schema.column(column).type().widthBytes();
    }

    /** Returns the name of the column that {@link #read} failed at, or an empty text. */
    String decoding() {
        return decoding;
    }

    /**
     * Reads rows, none of which may be null.
     *
     * @param firstRow number in the row group of the first
     * @param rows at least 1, at most the most of a chunk
     */
    Chunk read(long firstRow, int rows) throws IOException {
        assembler.begin(rows);
        for (int i = 0; i < columns.length; i++) {
            decoding = schema.column(i).name();
            columns[i].seek(firstRow);
            readColumn(i, rows);
        }
        decoding = "";
        return assembler.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0, false);
    }

    private void readColumn(int column, int rows) throws IOException {
        ColumnPages pages = columns[column];
        if (savedBytes(column, rows) == 0) {
            int at = assembler.addPlain();
            pages.read(rows, assembler.bytes(), at);
            return;
        }
        DictionaryDecoder.Values dictionary = pages.dictionary();
        codes.begin(dictionary.bits(), rows);
        long stored = pages.copyCodes(codes, rows);
        if (codes.count() == rows) {
            boolean isOfRuns = stored < rows / MIN_RUN_ROWS;
            assembler.addCodes(codes, dictionary.longs(), dictionary.size(), isOfRuns);
        } else {
            readRest(column, rows);
        }
    }

    /** Reads the values behind codes. A writer that gives up a dictionary does so for its group. */
    private void readRest(int column, int rows) throws IOException {
        isCoded[column] = false;
        long[] values = columns[column].dictionary().longs();
        int widthBytes = widthBytes(column);
        int at = assembler.addPlain();
        for (int row = 0; row < codes.count(); row++) {
            long to = Memory.BYTES + at + (long) widthBytes * row;
            Memory.putInteger(assembler.bytes(), to, widthBytes, values[codes.get(row)]);
        }
        int rest = rows - codes.count();
        columns[column].read(rest, assembler.bytes(), at + widthBytes * codes.count());
    }
}
