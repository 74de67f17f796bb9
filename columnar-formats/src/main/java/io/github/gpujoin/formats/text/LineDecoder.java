// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

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

    /** Lines that are decoded. */
    private final int[] selected = new int[LineScanner.MAX_LINES];

    /** By column: the values of the lines, by line, if {@link #isTested}. */
    private final long[][] tested;

    /** By column: whether its values were parsed for a condition. */
    private final boolean[] isTested;

    private @Nullable BadLineException problem;
    private long rowsSkipped;

    /** A field without its quotes. */
    private byte[] unquoted = new byte[256];

    LineDecoder(List<TextColumn> columns, FieldMap fields, TextSyntax syntax, int chunkBytes) {
        this.columns = columns.toArray(TextColumn[]::new);
        this.fields = fields;
        this.scanner = new LineScanner(fields.fieldCount(), syntax);
        this.hasQuotes = syntax.isCsv();
        ChunkSchema schema = ChunkSchema.of(columns.stream().map(TextColumn::chunkColumn).toList());
        this.builder = new ChunkBuilder(schema, chunkBytes);
        this.tested = new long[this.columns.length][];
        this.isTested = new boolean[this.columns.length];
    }

    ChunkSchema schema() {
        return builder.schema();
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

    /** Whether conditions on a column can be tested: integers that cannot be null. */
    boolean canTest(int column) {
        return builder.columnOffset(column) >= 0 && columns[column].type().columnType().isInteger();
    }

    /** Returns how many lines {@link #decode} reads, at most. */
    int next(int from) {
        return Math.min(scanner.lines() - from, builder.capacityRows() - builder.rowCount());
    }

    /** Returns the number of lines that failed a condition. */
    long rowsSkipped() {
        return rowsSkipped;
    }

    /**
     * Decodes lines of the last scan until the chunk is full.
     *
     * @param from number of the first line
     * @param pruner tests the lines; fields without a condition are decoded only of those that it
     *     keeps. Null if all are decoded
     * @return number of the line after the last
     * @throws BadLineException if a field that is decoded is malformed: names the first such line
     */
    int decode(byte[] bytes, int from, @Nullable RowPruner pruner) throws BadLineException {
        int count = next(from);
        for (int i = 0; i < count; i++) {
            selected[i] = from + i;
        }
        Arrays.fill(isTested, false);
        int kept = pruner == null ? count : select(pruner, bytes, count);
        int good = kept;
        int malformed = -1;
        for (int i = 0; i < columns.length; i++) {
            if (builder.columnOffset(i) >= 0) {
                int before = good;
                good = isTested[i] ? putTested(i, good) : decodeColumn(i, bytes, good);
                malformed = good < before ? i : malformed;
            }
        }
        int appended = good;
        if (builder.schema().hasVariableWidth()) {
            appended = appendRows(bytes, good);
        } else {
            builder.advance(good);
        }
        if (malformed >= 0 && appended == good) {
            throw malformed(malformed, bytes, selected[good]);
        }
        int end = appended < kept ? selected[appended] : from + count;
        rowsSkipped += end - from - appended;
        return end;
    }

    /** Moves the lines that meet the conditions to the front, and returns their number. */
    private int select(RowPruner pruner, byte[] bytes, int count) throws BadLineException {
        problem = null;
        int kept =
                pruner.select(
                        (column, condition, lines, some) -> {
                            if (!isTested[column]) {
                                parse(column, bytes, lines, some);
                            }
                            return problem == null
                                    ? condition.select(tested[column], lines, 0, some, 0)
                                    : 0;
                        },
                        selected,
                        count);
        if (problem != null) {
            throw problem;
        }
        return kept;
    }

    private void parse(int column, byte[] bytes, int[] lines, int count) {
        isTested[column] = true;
        if (tested[column] == null) {
            tested[column] = new long[LineScanner.MAX_LINES];
        }
        for (int i = 0; i < count && problem == null; i++) {
            try {
                tested[column][lines[i]] = value(column, bytes, lines[i]);
            } catch (MalformedFieldException e) {
                problem = malformed(column, bytes, lines[i]);
            }
        }
    }

    private int putTested(int column, int count) {
        int widthBytes = columns[column].type().columnType().widthBytes();
        long at = start(column, widthBytes);
        for (int i = 0; i < count; i++, at += widthBytes) {
            Memory.putInteger(builder.array(), at, widthBytes, tested[column][selected[i]]);
        }
        return count;
    }

    private long start(int column, int widthBytes) {
        return Memory.BYTES + builder.columnOffset(column) + (long) widthBytes * builder.rowCount();
    }

    /**
     * Decodes a fixed-width column of the selected lines.
     *
     * @return number of lines before the first malformed one
     */
    private int decodeColumn(int column, byte[] bytes, int count) {
        int widthBytes = columns[column].type().columnType().widthBytes();
        byte[] target = builder.array();
        long at = start(column, widthBytes);
        int done = 0;
        try {
            for (; done < count; done++, at += widthBytes) {
                Memory.putInteger(target, at, widthBytes, value(column, bytes, selected[done]));
            }
        } catch (MalformedFieldException e) {
            return done;
        }
        return count;
    }

    private long value(int column, byte[] bytes, int line) throws MalformedFieldException {
        TextType type = columns[column].type();
        int scale = columns[column].scale();
        int start = scanner.fieldStart(line, fields.fields()[column]);
        int end = scanner.fieldEnd(line, fields.fields()[column]);
        if (isQuoted(bytes, start, end)) {
            int length = unquote(bytes, start, end);
            return FieldParser.parse(type, scale, unquoted, 0, length);
        }
        return FieldParser.parse(type, scale, bytes, start, end);
    }

    /**
     * Appends the variable-width columns of the selected lines until the chunk is full, line by
     * line.
     *
     * @return number of lines that were appended
     */
    private int appendRows(byte[] bytes, int count) throws BadLineException {
        int appended = 0;
        for (; appended < count && !builder.isFull(); appended++) {
            for (int i = 0; i < columns.length; i++) {
                if (builder.columnOffset(i) < 0) {
                    append(i, bytes, selected[appended]);
                }
            }
            builder.endRow();
        }
        return appended;
    }

    private void append(int column, byte[] bytes, int line) throws BadLineException {
        int start = scanner.fieldStart(line, fields.fields()[column]);
        int end = scanner.fieldEnd(line, fields.fields()[column]);
        try {
            if (start == end && columns[column].nullable()) {
                builder.addNull();
            } else if (isQuoted(bytes, start, end)) {
                int length = unquote(bytes, start, end);
                append(columns[column], unquoted, 0, length);
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

    /** Copies a field in quotes to {@link #unquoted}, which it may replace; returns its length. */
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
