// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Decodes fields of scanned lines, column by column, to chunks: the second pass. Used by one thread
 * at a time.
 */
final class LineDecoder {

    private static final int LONGEST_EXCERPT = 60;

    private final TextColumn[] columns;
    private final FieldMap fields;
    private final LineScanner scanner;
    private final ChunkBuilder builder;
    private final boolean hasQuotes;

    /** A field without its quotes. */
    private byte[] unquoted = new byte[256];

    LineDecoder(List<TextColumn> columns, FieldMap fields, TextSyntax syntax, int chunkBytes) {
        this.columns = columns.toArray(TextColumn[]::new);
        this.fields = fields;
        this.scanner = new LineScanner(fields.fieldCount(), syntax);
        this.hasQuotes = syntax.isCsv();
        ChunkSchema schema = ChunkSchema.of(columns.stream().map(TextColumn::chunkColumn).toList());
        this.builder = new ChunkBuilder(schema, chunkBytes);
    }

    LineScanner scanner() {
        return scanner;
    }

    /** Returns the offset in the file of the first line, behind the header. */
    int linesStart() {
        return fields.linesStart();
    }

    boolean isFull() {
        return builder.isFull();
    }

    boolean isEmpty() {
        return builder.isEmpty();
    }

    Chunk seal() {
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    /**
     * Decodes lines of the last scan until the chunk is full.
     *
     * @param from number of the first line
     * @return number of the line after the last
     * @throws BadLineException if a field is malformed: names the first such line
     */
    int decode(byte[] bytes, int from) throws BadLineException {
        int room = builder.capacityRows() - builder.rowCount();
        int to = Math.min(scanner.lines(), from + room);
        int malformed = -1;
        for (int i = 0; i < columns.length; i++) {
            if (builder.columnOffset(i) >= 0) {
                int good = decodeColumn(i, bytes, from, to);
                malformed = good < to ? i : malformed;
                to = good;
            }
        }
        int end = to;
        if (builder.schema().hasVariableWidth()) {
            end = appendRows(bytes, from, to);
        } else {
            builder.advance(to - from);
        }
        if (malformed >= 0 && end == to) {
            throw malformed(malformed, bytes, to);
        }
        return end;
    }

    /** Decodes a fixed-width column; returns the first malformed line, or {@code to}. */
    private int decodeColumn(int column, byte[] bytes, int from, int to) {
        TextType type = columns[column].type();
        int scale = columns[column].scale();
        int field = fields.fields()[column];
        int widthBytes = type.columnType().widthBytes();
        byte[] target = builder.array();
        long at =
                Memory.BYTES
                        + builder.columnOffset(column)
                        + (long) widthBytes * builder.rowCount();
        int line = from;
        try {
            for (; line < to; line++, at += widthBytes) {
                int start = scanner.fieldStart(line, field);
                int end = scanner.fieldEnd(line, field);
                long value =
                        isQuoted(bytes, start, end)
                                ? FieldParser.parse(
                                        type, scale, unquoted, 0, unquote(bytes, start, end))
                                : FieldParser.parse(type, scale, bytes, start, end);
                Memory.putInteger(target, at, widthBytes, value);
            }
        } catch (MalformedFieldException e) {
            return line;
        }
        return to;
    }

    /** Appends the variable-width columns of lines until the chunk is full, line by line. */
    private int appendRows(byte[] bytes, int from, int to) throws BadLineException {
        int line = from;
        for (; line < to && !builder.isFull(); line++) {
            for (int i = 0; i < columns.length; i++) {
                if (builder.columnOffset(i) < 0) {
                    append(i, bytes, line);
                }
            }
            builder.endRow();
        }
        return line;
    }

    private void append(int column, byte[] bytes, int line) throws BadLineException {
        int start = scanner.fieldStart(line, fields.fields()[column]);
        int end = scanner.fieldEnd(line, fields.fields()[column]);
        try {
            if (start == end && columns[column].nullable()) {
                builder.addNull();
            } else if (isQuoted(bytes, start, end)) {
                append(columns[column], unquoted, 0, unquote(bytes, start, end));
            } else {
                append(columns[column], bytes, start, end);
            }
        } catch (MalformedFieldException e) {
            throw malformed(column, bytes, line);
        }
    }

    private void append(TextColumn column, byte[] bytes, int start, int end)
            throws MalformedFieldException {
        TextType type = column.type();
        if (type == TextType.TEXT) {
            builder.addBytes(bytes, start, end - start);
        } else {
            long value = FieldParser.parse(type, column.scale(), bytes, start, end);
            builder.addInteger(type.columnType().widthBytes(), value);
        }
    }

    private boolean isQuoted(byte[] bytes, int start, int end) {
        return hasQuotes && start < end && bytes[start] == TextSyntax.QUOTE;
    }

    /** Copies a field in quotes to {@link #unquoted}, and returns its length there. */
    private int unquote(byte[] bytes, int start, int end) throws MalformedFieldException {
        int last = end - 1;
        if (last == start || bytes[last] != TextSyntax.QUOTE) {
            throw MalformedFieldException.INSTANCE;
        }
        if (unquoted.length < end - start + TextBlock.PADDING_BYTES) {
            unquoted = Arrays.copyOf(unquoted, 2 * (end - start) + TextBlock.PADDING_BYTES);
        }
        int length = 0;
        for (int i = start + 1; i < last; i++) {
            if (bytes[i] == TextSyntax.QUOTE && (++i == last || bytes[i] != TextSyntax.QUOTE)) {
                throw MalformedFieldException.INSTANCE;
            }
            unquoted[length++] = bytes[i];
        }
        return length;
    }

    private BadLineException malformed(int column, byte[] bytes, int line) {
        int start = scanner.fieldStart(line, fields.fields()[column]);
        int length = scanner.fieldEnd(line, fields.fields()[column]) - start;
        int shown = Math.min(length, LONGEST_EXCERPT);
        return new BadLineException(
                scanner.lineStart(line),
                "column="
                        + columns[column].name()
                        + ", expected "
                        + columns[column].expectation()
                        + ", found '"
                        + new String(bytes, start, shown, StandardCharsets.UTF_8)
                        + (shown < length ? "...'" : "'"));
    }
}
