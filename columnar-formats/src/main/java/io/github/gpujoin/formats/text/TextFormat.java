// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.source.ColumnConditions;
import io.github.gpujoin.flink.api.source.ColumnarFormat;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import io.github.gpujoin.formats.FileColumns;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Delimited text: {@code .tbl} files and CSV. A reader decodes only the selected columns; it finds
 * the delimiters of others and skips them.
 *
 * <p>A line ends with LF or CRLF, and the last line may lack its end. A split has the lines whose
 * first byte lies in it. A checkpoint holds the offset of a line. A malformed line fails the job
 * with a {@link MalformedLineException}.
 *
 * <p>CSV has the quotes of RFC 4180: a field in quotes may contain delimiters and doubled quotes.
 * Whether a line feed is inside quotes cannot be known in the middle of a file, so a line break
 * inside quotes is malformed, unless {@link #quotedLineBreaks} allows it: then one reader reads all
 * of a file. A CSV line without a byte is skipped if lines have several columns. A file without a
 * byte has no rows, also where files have a header.
 *
 * <pre>{@code
 * TextFormat orders =
 *         TextFormat.csv(
 *                 TextColumn.of("order_id", TextType.INT64),
 *                 TextColumn.decimal("price", 2),
 *                 TextColumn.of("day", TextType.DATE).asNullable());
 * }</pre>
 */
@PublicEvolving
public final class TextFormat implements ColumnarFormat {

    private static final long serialVersionUID = 1L;

    private final ArrayList<TextColumn> columns;
    private final ArrayList<TextColumn> selected;
    private final TextSyntax syntax;
    private final int chunkBytes;

    private TextFormat(
            List<TextColumn> columns,
            List<TextColumn> selected,
            TextSyntax syntax,
            int chunkBytes) {
        this.columns = new ArrayList<>(columns);
        this.selected = new ArrayList<>(selected);
        this.syntax = syntax;
        this.chunkBytes = chunkBytes;
        if (columns.isEmpty()) {
            throw new IllegalArgumentException("No columns to read: name at least one.");
        }
    }

    /**
     * Reads {@code .tbl} files: bars between fields, no quotes, no header, and a bar after the last
     * field or none.
     *
     * @param columns all columns of the file, in its order
     * @return the format
     */
    public static TextFormat tbl(TextColumn... columns) {
        return of(TextSyntax.TBL, columns);
    }

    /**
     * Reads CSV files whose first line is a header. Each file must have the columns, in any order;
     * it may have others.
     *
     * @param columns to read
     * @return the format
     */
    public static TextFormat csv(TextColumn... columns) {
        return of(TextSyntax.CSV, columns);
    }

    private static TextFormat of(TextSyntax syntax, TextColumn... columns) {
        List<TextColumn> all = List.of(columns);
        return new TextFormat(all, all, syntax, FileColumns.CHUNK_BYTES);
    }

    /**
     * Returns a format of CSV files without a header: the columns of this format are all columns of
     * the file, in its order.
     *
     * @return the format
     */
    public TextFormat withoutHeader() {
        return with(new TextSyntax(syntax.delimiter(), syntax.isCsv(), false, syntax.lineBreaks()));
    }

    /**
     * Returns a format with another delimiter.
     *
     * @param delimiter an ASCII character, no quote and no line break
     * @return the format
     */
    public TextFormat delimiter(char delimiter) {
        return with(
                new TextSyntax(delimiter, syntax.isCsv(), syntax.hasHeader(), syntax.lineBreaks()));
    }

    /**
     * Returns a format of CSV files with line breaks inside quotes. It is not splittable.
     *
     * @return the format
     */
    public TextFormat quotedLineBreaks() {
        return with(new TextSyntax(syntax.delimiter(), syntax.isCsv(), syntax.hasHeader(), true));
    }

    private TextFormat with(TextSyntax other) {
        return new TextFormat(columns, selected, other, chunkBytes);
    }

    /**
     * Returns a format that reads some of the columns.
     *
     * @param names of the columns, in the order that they have in chunks
     * @return the format
     */
    public TextFormat select(String... names) {
        List<TextColumn> wanted = new ArrayList<>();
        for (String name : names) {
            wanted.add(columns.get(indexOf(Objects.requireNonNull(name, "name"))));
        }
        return new TextFormat(columns, wanted, syntax, chunkBytes);
    }

    private int indexOf(String name) {
        List<String> names = columns.stream().map(TextColumn::name).toList();
        int index = names.indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException(
                    "Column is not in the format: column=" + name + ", columns=" + names);
        }
        return index;
    }

    /**
     * Returns a format with chunks of another size.
     *
     * @param bytes of rows at which a chunk is full, at least 1; a chunk holds at least one row
     * @return the format
     */
    public TextFormat chunkBytes(int bytes) {
        return new TextFormat(columns, selected, syntax, bytes);
    }

    @Override
    public ChunkSchema schema() {
        return ChunkSchema.of(selected.stream().map(TextColumn::chunkColumn).toList());
    }

    @Override
    public boolean isSplittable() {
        return !syntax.lineBreaks();
    }

    @Override
    public ColumnarReader open(ColumnarSplit split, ColumnarPosition from) throws IOException {
        return open(split, from, ColumnConditions.NONE);
    }

    @Override
    public ColumnarReader open(
            ColumnarSplit split, ColumnarPosition from, ColumnConditions conditions)
            throws IOException {
        TextBlock block = TextBlock.open(split.path(), split.fileBytes());
        try {
            FieldMap fields =
                    syntax.hasHeader() && split.fileBytes() > 0
                            ? TextHeader.read(block, syntax).fields(selected, split.path())
                            : new FieldMap(
                                    columns.size(),
                                    TextHeader.linesStart(block, split.offset()),
                                    selected.stream().mapToInt(c -> indexOf(c.name())).toArray());
            return TextReader.open(
                    block,
                    new LineDecoder(selected, fields, syntax, chunkBytes),
                    split,
                    from,
                    conditions);
        } catch (IOException | RuntimeException e) {
            block.close();
            throw e;
        }
    }
}
