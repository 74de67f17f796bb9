// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.encoding.PlainColumn;
import io.github.gpujoin.core.region.Memory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Objects;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.bytes.BytesUtils;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.PageWriter;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.jspecify.annotations.Nullable;

/**
 * Writes the pages of a column whose values are arrays in chunks: copies of the arrays, or codes of
 * a dictionary if the row group has few distinct integers. Each page has statistics. Not
 * thread-safe.
 *
 * <p>A chunk has all values of the column or, if the column is optional, none, so definition levels
 * are a run for each chunk.
 */
final class FixedWidthPages {

    /** As parquet-java, by which readers cut row groups. */
    static final int PAGE_ROWS = 20_000;

    /** Bytes of a few runs of levels; those of more runs are copied to the page. */
    private static final int LEVEL_ROOM = 64;

    private static final long VALUES = Memory.BYTES + LEVEL_ROOM;

    private final ColumnDescriptor descriptor;
    private final PageWriter pages;
    private final SnappyPageCompressor compressor;
    private final PrimitiveTypeName type;

    /** Bytes of a value in a page; a boolean has a byte here and a bit there. */
    private final int widthBytes;

    private final boolean isOptional;

    /**
     * Values of the current page that are not null, before they are encoded, behind room for the
     * definition levels.
     */
    private final byte[] values;

    private int valueCount;
    private int rowCount;

    /** Pages that are written, and the values in them. */
    private int pageCount;

    private int writtenValues;

    private final ByteArrayOutputStream levels = new ByteArrayOutputStream();

    /** The last run of levels, which is not in {@link #levels} yet. */
    private int lastLevel;

    private int lastLevelCount;

    /** Null if values are written as they are. */
    private @Nullable IntegerDictionary dictionary;

    /** Returns whether values of a type have a width that chunks have too. */
    static boolean isSupported(PrimitiveTypeName type) {
        return switch (type) {
            case BOOLEAN, INT32, INT64, FLOAT, DOUBLE -> true;
            case INT96, BINARY, FIXED_LEN_BYTE_ARRAY -> false;
        };
    }

    /**
     * @param descriptor of a supported type
     * @param compressor of the pages
     */
    FixedWidthPages(
            ColumnDescriptor descriptor, PageWriter pages, SnappyPageCompressor compressor) {
        this.descriptor = descriptor;
        this.pages = pages;
        this.compressor = compressor;
        this.type = descriptor.getPrimitiveType().getPrimitiveTypeName();
        this.widthBytes =
                switch (type) {
                    case BOOLEAN -> Byte.BYTES;
                    case INT32, FLOAT -> Integer.BYTES;
                    default -> Long.BYTES;
                };
        this.isOptional = descriptor.getMaxDefinitionLevel() > 0;
        this.values = new byte[LEVEL_ROOM + PAGE_ROWS * widthBytes + PageBytes.READABLE_BEHIND];
    }

    /**
     * Writes all pages of a column.
     *
     * @param entries of the column, or null to write values as they are
     */
    void write(RowGroupRows group, int column, @Nullable IntegerDictionary entries)
            throws IOException {
        dictionary = entries;
        if (entries != null) {
            writeDictionary(entries);
        }
        for (RowGroupRows.Part part : group.parts()) {
            append(part, column);
        }
        if (rowCount > 0) {
            writePage();
        }
    }

    private void writeDictionary(IntegerDictionary entries) throws IOException {
        byte[] bytes = new byte[entries.size() * widthBytes + PageBytes.READABLE_BEHIND];
        for (int code = 0; code < entries.size(); code++) {
            long at = Memory.BYTES + (long) code * widthBytes;
            Memory.putInteger(bytes, at, widthBytes, entries.value(code));
        }
        pages.writeDictionaryPage(
                new DictionaryPage(
                        BytesInput.from(bytes, 0, entries.size() * widthBytes),
                        entries.size(),
                        Encoding.PLAIN));
    }

    private void append(RowGroupRows.Part part, int column) throws IOException {
        PlainColumn source = null;
        int sourceBytes = 0;
        if (!part.isMissing(column)) {
            int index = part.columns()[column];
            source = new PlainColumn(index);
            source.bind(part.chunk());
            sourceBytes = part.chunk().schema().column(index).type().widthBytes();
        }
        for (int row = 0; row < part.chunk().rowCount(); ) {
            int rows = Math.min(part.chunk().rowCount() - row, PAGE_ROWS - rowCount);
            if (source != null) {
                long from = source.start() + (long) sourceBytes * row;
                appendValues(Objects.requireNonNull(source.base()), from, sourceBytes, rows);
            }
            if (isOptional) {
                appendLevels(source == null ? 0 : 1, rows);
            } else if (source == null) {
                throw new IOException("Null in a required column: column=" + descriptor);
            }
            row += rows;
            rowCount += rows;
            if (rowCount == PAGE_ROWS) {
                writePage();
            }
        }
    }

    private void appendValues(byte[] array, long from, int sourceBytes, int rows) {
        long to = VALUES + (long) widthBytes * valueCount;
        if (sourceBytes == widthBytes) {
            Memory.copy(array, from, values, to, (long) widthBytes * rows);
        } else {
            for (int i = 0; i < rows; i++) {
                long value = Memory.getInteger(array, from + (long) sourceBytes * i, sourceBytes);
                Memory.putInteger(values, to + (long) widthBytes * i, widthBytes, value);
            }
        }
        valueCount += rows;
    }

    private void appendLevels(int level, int rows) throws IOException {
        if (level != lastLevel) {
            endLevels();
            lastLevel = level;
        }
        lastLevelCount += rows;
    }

    /** Writes the last run of equal levels, in the encoding RLE. */
    private void endLevels() throws IOException {
        if (lastLevelCount > 0) {
            BytesUtils.writeUnsignedVarInt(lastLevelCount << 1, levels);
            levels.write(lastLevel);
            lastLevelCount = 0;
        }
    }

    private void writePage() throws IOException {
        endLevels();
        pages.writePage(
                page(),
                rowCount,
                rowCount,
                statistics(),
                Encoding.RLE,
                Encoding.RLE,
                dictionary == null ? Encoding.PLAIN : Encoding.RLE_DICTIONARY);
        levels.reset();
        pageCount++;
        writtenValues += valueCount;
        rowCount = 0;
        valueCount = 0;
    }

    /** Returns the definition levels of an optional column with their length, and the values. */
    private BytesInput page() throws IOException {
        int levelBytes = isOptional ? Integer.BYTES + levels.size() : 0;
        if (dictionary == null && type != PrimitiveTypeName.BOOLEAN && levelBytes <= LEVEL_ROOM) {
            int start = LEVEL_ROOM - levelBytes;
            if (isOptional) {
                Memory.putInt(values, Memory.BYTES + start, levels.size());
                byte[] runs = levels.toByteArray();
                System.arraycopy(runs, 0, values, start + Integer.BYTES, runs.length);
            }
            return BytesInput.from(values, start, levelBytes + valueCount * widthBytes);
        }
        if (dictionary != null) {
            return codes(dictionary.codes(), dictionary.bits());
        }
        BytesInput encoded = plain();
        return isOptional
                ? BytesInput.concat(
                        BytesInput.fromInt(levels.size()), BytesInput.from(levels), encoded)
                : encoded;
    }

    private BytesInput plain() {
        if (type != PrimitiveTypeName.BOOLEAN) {
            return BytesInput.from(values, LEVEL_ROOM, valueCount * widthBytes);
        }
        byte[] bits = new byte[valueCount + 7 >>> 3];
        for (int i = 0; i < valueCount; i++) {
            bits[i >>> 3] |= (byte) (values[LEVEL_ROOM + i] << (i & 7));
        }
        return BytesInput.from(bits);
    }

    private BytesInput codes(RowCodes codes, int bits) throws IOException {
        byte[] prefix =
                isOptional
                        ? BytesInput.concat(
                                        BytesInput.fromInt(levels.size()), BytesInput.from(levels))
                                .toByteArray()
                        : new byte[0];
        BytesInput page =
                codes.page(pageCount, prefix, bits, writtenValues, writtenValues + valueCount);
        compressor.share(page);
        return page;
    }

    private Statistics<?> statistics() {
        Statistics<?> statistics = Statistics.createStats(descriptor.getPrimitiveType());
        statistics.incrementNumNulls(rowCount - valueCount);
        if (valueCount == 0) {
            return statistics;
        }
        switch (type) {
            case INT64 -> addLongs(statistics);
            case INT32 -> addInts(statistics);
            case FLOAT -> addFloats(statistics);
            case DOUBLE -> addDoubles(statistics);
            default -> addBooleans(statistics);
        }
        return statistics;
    }

    private void addLongs(Statistics<?> statistics) {
        long min = Long.MAX_VALUE;
        long max = Long.MIN_VALUE;
        for (int i = 0; i < valueCount; i++) {
            long value = Memory.getLong(values, VALUES + 8L * i);
            min = Math.min(min, value);
            max = Math.max(max, value);
        }
        statistics.updateStats(min);
        statistics.updateStats(max);
    }

    private void addInts(Statistics<?> statistics) {
        int min = Integer.MAX_VALUE;
        int max = Integer.MIN_VALUE;
        for (int i = 0; i < valueCount; i++) {
            int value = Memory.getInt(values, VALUES + 4L * i);
            min = Math.min(min, value);
            max = Math.max(max, value);
        }
        statistics.updateStats(min);
        statistics.updateStats(max);
    }

    /** Parquet-java treats NaN and signed zeros. */
    private void addFloats(Statistics<?> statistics) {
        for (int i = 0; i < valueCount; i++) {
            int bits = Memory.getInt(values, VALUES + 4L * i);
            statistics.updateStats(Float.intBitsToFloat(bits));
        }
    }

    private void addDoubles(Statistics<?> statistics) {
        for (int i = 0; i < valueCount; i++) {
            long bits = Memory.getLong(values, VALUES + 8L * i);
            statistics.updateStats(Double.longBitsToDouble(bits));
        }
    }

    private void addBooleans(Statistics<?> statistics) {
        for (int i = 0; i < valueCount; i++) {
            statistics.updateStats(values[LEVEL_ROOM + i] != 0);
        }
    }
}
