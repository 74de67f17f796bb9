// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.formats.parquet.ParquetColumn.Conversion;
import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.DataPage;
import org.apache.parquet.column.page.DataPageV1;
import org.apache.parquet.column.page.DataPageV2;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.PageReader;
import org.apache.parquet.io.ParquetDecodingException;
import org.apache.parquet.schema.PrimitiveType;
import org.jspecify.annotations.Nullable;

/**
 * Reads the values of one column of a row group, page by page. A column of fixed width goes
 * straight to a chunk. For any other, {@link #load} decodes the values of some rows, which {@link
 * #append} then adds row by row. Not thread-safe.
 */
final class ColumnPages {

    private final ColumnDescriptor descriptor;
    private final Column column;
    private final ParquetColumn source;
    private final PageReader pages;
    private final DictionaryDecoder.@Nullable Values dictionary;

    /** Rows of the current page that have not been read. */
    private int left;

    /** Definition levels of the page; null where no value can be null. */
    private @Nullable RunDecoder levels;

    private @Nullable ValueDecoder values;

    /** Of the rows of a batch: 1 for a value, 0 for null. */
    private final int[] defined;

    private final long[] longs;
    private final Binaries binaries;

    /** Values of a loaded batch that were appended. */
    private int appended;

    /**
     * @param column of the chunk
     * @param maxRows of one batch
     */
    ColumnPages(
            ColumnDescriptor descriptor,
            Column column,
            ParquetColumn source,
            PageReader pages,
            int maxRows)
            throws IOException {
        this.descriptor = descriptor;
        this.column = column;
        this.source = source;
        this.pages = pages;
        this.defined = new int[maxRows];
        this.longs = new long[isInteger() ? maxRows : 0];
        this.binaries = new Binaries(isInteger() ? 0 : maxRows);
        DictionaryPage page = pages.readDictionaryPage();
        this.dictionary = page == null ? null : dictionary(page);
    }

    /** Whether values are integers or bits of floats, not byte sequences. */
    private boolean isInteger() {
        return source.type().isFixedWidth();
    }

    private DictionaryDecoder.Values dictionary(DictionaryPage page) throws IOException {
        int size = page.getDictionarySize();
        PageBytes bytes = PageBytes.of(page.getBytes());
        if (size < 0 || size > bytes.end()) {
            throw new ParquetDecodingException(
                    "Size of a dictionary is wrong: size=" + size + ", bytes=" + bytes.end());
        }
        ValueDecoder decoder = converted(plain(bytes));
        if (isInteger()) {
            long[] all = new long[size];
            decoder.readLongs(all, 0, size);
            return new DictionaryDecoder.Values(all, null, size);
        }
        Binaries all = new Binaries(size);
        decoder.readBinaries(all, 0, size);
        return new DictionaryDecoder.Values(null, all, size);
    }

    // ------------------------------------------------------------------ rows

    /**
     * Decodes rows of a column that has fixed width in the chunk.
     *
     * @param at offset in {@code target} of the first
     * @param rows at most the maximum of a batch
     */
    void read(int rows, byte[] target, int at) throws IOException {
        int widthBytes = column.type().widthBytes();
        for (int done = 0; done < rows; ) {
            int some = Math.min(rows - done, startPage());
            if (readDefined(0, some) < some) {
                throw new ParquetDecodingException("Null in a column that is read as not nullable");
            }
            readValues(some, target, at + done * widthBytes, widthBytes);
            left -= some;
            done += some;
        }
    }

    private void readValues(int count, byte[] target, int at, int widthBytes) {
        ValueDecoder decoder = Objects.requireNonNull(values);
        if (decoder.readColumn(target, at, widthBytes, count)) {
            return;
        }
        decoder.readLongs(longs, 0, count);
        for (int i = 0; i < count; i++) {
            long to = Memory.BYTES + at + (long) widthBytes * i;
            Memory.putInteger(target, to, widthBytes, longs[i]);
        }
    }

    /**
     * Decodes rows of a column that has variable width in the chunk; {@link #append} then adds
     * them.
     *
     * @param rows at most the maximum of a batch
     */
    void load(int rows) throws IOException {
        int loaded = 0;
        for (int done = 0; done < rows; ) {
            int some = Math.min(rows - done, startPage());
            int count = readDefined(done, some);
            if (count < some && !column.nullable()) {
                throw new ParquetDecodingException("Null in a column that is read as not nullable");
            }
            ValueDecoder decoder = Objects.requireNonNull(values);
            if (isInteger()) {
                decoder.readLongs(longs, loaded, count);
            } else {
                decoder.readBinaries(binaries, loaded, count);
            }
            loaded += count;
            left -= some;
            done += some;
        }
        appended = 0;
    }

    /** Adds the value of a row of the loaded batch, which are added in order. */
    void append(ChunkBuilder builder, int row) {
        if (defined[row] == 0) {
            builder.addNull();
        } else if (isInteger()) {
            builder.addInteger(column.type().widthBytes(), longs[appended++]);
        } else {
            binaries.appendTo(builder, appended++);
        }
    }

    // ------------------------------------------------------------------ pages

    /** Reads which rows are not null, and returns their count. */
    private int readDefined(int from, int count) {
        if (levels == null) {
            Arrays.fill(defined, from, from + count, 1);
            return count;
        }
        levels.read(defined, from, count);
        int sum = 0;
        for (int i = from; i < from + count; i++) {
            sum += defined[i];
        }
        return sum;
    }

    /** Opens the next page if the current one is at its end; returns the rows left in it. */
    private int startPage() throws IOException {
        while (left == 0) {
            DataPage page = pages.readPage();
            if (page == null) {
                throw new ParquetDecodingException("Column has fewer rows than its row group");
            }
            if (page instanceof DataPageV1 v1) {
                open(v1);
            } else if (page instanceof DataPageV2 v2) {
                open(v2);
            }
            left = page.getValueCount();
            if (left < 0) {
                throw new ParquetDecodingException("Count of values is negative: count=" + left);
            }
        }
        return left;
    }

    private void open(DataPageV1 page) throws IOException {
        PageBytes bytes = PageBytes.of(page.getBytes());
        levels = null;
        if (descriptor.getMaxDefinitionLevel() > 0) {
            if (page.getDlEncoding() != Encoding.RLE) {
                throw new ParquetDecodingException(
                        "Definition levels are not in RLE: encoding=" + page.getDlEncoding());
            }
            bytes.require(bytes.start(), Integer.BYTES);
            int length = Memory.getInt(bytes.bytes(), Memory.BYTES + bytes.start());
            int start = bytes.start() + Integer.BYTES;
            PageBytes behind = bytes.from(Math.addExact(start, length));
            levels = new RunDecoder(bytes.bytes(), start, behind.start(), 1);
            bytes = behind;
        }
        values = decoder(page.getValueEncoding(), bytes, page.getValueCount());
    }

    private void open(DataPageV2 page) throws IOException {
        levels = null;
        if (descriptor.getMaxDefinitionLevel() > 0) {
            PageBytes bytes = PageBytes.of(page.getDefinitionLevels());
            levels = new RunDecoder(bytes.bytes(), bytes.start(), bytes.end(), 1);
        }
        values =
                decoder(page.getDataEncoding(), PageBytes.of(page.getData()), page.getValueCount());
    }

    private ValueDecoder decoder(Encoding encoding, PageBytes bytes, int count) throws IOException {
        if (encoding.usesDictionary()) {
            if (dictionary == null) {
                throw new ParquetDecodingException("Column has codes and no dictionary");
            }
            return new DictionaryDecoder(bytes, dictionary);
        }
        return converted(
                encoding == Encoding.PLAIN
                        ? plain(bytes)
                        : new OtherDecoder(descriptor, encoding, bytes, count));
    }

    private ValueDecoder plain(PageBytes bytes) {
        PrimitiveType type = descriptor.getPrimitiveType();
        return PlainDecoders.of(type.getPrimitiveTypeName(), type.getTypeLength(), bytes);
    }

    private ValueDecoder converted(ValueDecoder stored) {
        return source.conversion() == Conversion.NONE
                ? stored
                : new ConvertedDecoder(stored, source.conversion());
    }
}
