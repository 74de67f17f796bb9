// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.filter.RangeCondition;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.filter2.compat.FilterCompat;
import org.apache.parquet.filter2.compat.RowGroupFilter;
import org.apache.parquet.filter2.compat.RowGroupFilter.FilterLevel;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.ColumnPath;
import org.apache.parquet.internal.column.columnindex.OffsetIndexBuilder;
import org.apache.parquet.internal.filter2.columnindex.ColumnIndexFilter;
import org.apache.parquet.internal.filter2.columnindex.RowRanges;
import org.apache.parquet.schema.MessageType;
import org.jspecify.annotations.Nullable;

/**
 * The row groups of a split, and what conditions leave of each. Not thread-safe.
 *
 * <p>A group with a page index may be cut, so that several readers share it: each has the rows
 * whose share of the group's bytes lies in its split. A group without one belongs to the split in
 * which its middle lies.
 */
final class RowGroups {

    /**
     * A group is cut at multiples of this many rows: of the 20,000 that parquet-java puts into a
     * page. A page in which a cut lies is decoded twice.
     */
    private static final long CUT_ROWS = 60_000;

    /** Rows of a group whose pages are in memory at once, if it has a page index. */
    private static final long PIECE_ROWS = 4 * CUT_ROWS;

    private static final List<FilterLevel> LEVELS =
            List.of(FilterLevel.STATISTICS, FilterLevel.BLOOMFILTER);

    /**
     * Parquet-java collects a whole dictionary as objects. That pays for a range of values, which a
     * dictionary may lack, and not for the keys of a dimension, of which it nearly always has one.
     */
    private static final List<FilterLevel> DICTIONARIES = List.of(FilterLevel.DICTIONARY);

    /**
     * What is read of a row group.
     *
     * @param pages of the columns that are read
     * @param ranges rows whose pages are there
     */
    record Part(PageReadStore pages, List<RowRanges.Range> ranges) {}

    private final ParquetFileReader file;
    private final MessageType types;

    /**
     * Rows of a group that are read at once.
     *
     * @param number of the group in the file
     */
    private record Piece(int number, long firstRow, long endRow) {}

    private final List<Piece> pieces = new ArrayList<>();
    private int next;

    /** Rows of the current group that may meet {@link #tested}; null before it is known. */
    private @Nullable RowRanges matching;

    private List<ColumnCondition> tested = List.of();

    /**
     * @param file whose requested schema is set
     * @throws IOException if the metadata contradict themselves
     */
    RowGroups(ParquetFileReader file, ColumnarSplit split) throws IOException {
        this.file = file;
        this.types = file.getFileMetaData().getSchema();
        List<BlockMetaData> all = file.getRowGroups();
        for (int i = 0; i < all.size(); i++) {
            BlockMetaData group = all.get(i);
            requireRowCount(group, i, split);
            // A group without rows, as Arrow writes an empty table, has no piece: parquet-java
            // rejects it.
            long firstRow = rowAt(group, split.offset());
            long endRow = rowAt(group, split.end());
            long pieceRows = hasPageIndex(group) ? PIECE_ROWS : group.getRowCount();
            for (long row = firstRow; row < endRow; row += pieceRows) {
                pieces.add(new Piece(i, row, Math.min(endRow, row + pieceRows)));
            }
        }
    }

    /** A column that is not repeated has a value or a null in each row. */
    private void requireRowCount(BlockMetaData group, int number, ColumnarSplit split)
            throws IOException {
        for (ColumnChunkMetaData column : group.getColumns()) {
            int repetition = types.getMaxRepetitionLevel(column.getPath().toArray());
            if (repetition == 0 && column.getValueCount() != group.getRowCount()) {
                throw new IOException(
                        "Row group is damaged: file=%s, rowGroup=%d, rows=%d, column=%s, values=%d"
                                .formatted(
                                        split.path(),
                                        number,
                                        group.getRowCount(),
                                        column.getPath().toDotString(),
                                        column.getValueCount()));
            }
        }
    }

    /** Returns the first row of a group that belongs to splits which start at an offset. */
    private static long rowAt(BlockMetaData group, long offset) {
        long rows = group.getRowCount();
        long bytes = group.getCompressedSize();
        long before = offset - group.getStartingPos();
        if (!hasPageIndex(group)) {
            return before > bytes / 2 ? rows : 0;
        }
        if (before >= bytes) {
            return rows;
        }
        double share = Math.max(0, before) / (double) bytes;
        return (long) (share * rows) / CUT_ROWS * CUT_ROWS;
    }

    /** Moves to the next piece of the current row group, or of the next one. */
    boolean advance() {
        if (next == pieces.size()) {
            return false;
        }
        int before = number();
        next++;
        if (number() != before) {
            matching = null;
        }
        return true;
    }

    /** Whether the current row group goes on after the current piece. */
    boolean hasMorePieces() {
        return next > 0 && next < pieces.size() && pieces.get(next).number() == number();
    }

    /** Returns the number of the current row group in the file; 0 before the first one. */
    int number() {
        return next == 0 ? 0 : piece().number();
    }

    private Piece piece() {
        return pieces.get(next - 1);
    }

    /** Returns the offset of the current row group in the file. */
    long offset() {
        return current().getStartingPos();
    }

    /** Returns the first row of the current piece in its row group. */
    long firstRow() {
        return piece().firstRow();
    }

    /** Returns the row after the last one of the current piece in its row group. */
    long endRow() {
        return piece().endRow();
    }

    private BlockMetaData current() {
        return file.getRowGroups().get(number());
    }

    /**
     * Reads the current piece, except pages in which no row meets the conditions.
     *
     * @return null if no row meets them
     */
    @Nullable Part read(List<ColumnCondition> conditions) throws IOException {
        if (matching == null || conditions != tested) {
            matching = matching(conditions);
            tested = conditions;
        }
        RowRanges rows = RowRanges.intersection(matching, rowsOfPiece());
        if (rows.rowCount() == 0) {
            return null;
        }
        return rows.rowCount() == current().getRowCount()
                ? new Part(file.readRowGroup(number()), rows.getRanges())
                : new Part(file.readFilteredRowGroup(number(), rows), rows.getRanges());
    }

    /** Returns the rows of the current group that may meet the conditions. */
    private RowRanges matching(List<ColumnCondition> conditions) throws IOException {
        RowRanges all = RowRanges.createSingle(current().getRowCount());
        FilterPredicate predicate = ParquetConditions.predicate(conditions, types);
        if (predicate == null) {
            return all;
        }
        FilterCompat.Filter filter = FilterCompat.get(predicate);
        if (excludes(LEVELS, filter)) {
            return RowRanges.EMPTY;
        }
        FilterPredicate ranges =
                ParquetConditions.predicate(
                        conditions.stream()
                                .filter(c -> c.values() instanceof RangeCondition)
                                .toList(),
                        types);
        if (ranges != null && excludes(DICTIONARIES, FilterCompat.get(ranges))) {
            return RowRanges.EMPTY;
        }
        return hasPageIndex(current()) ? rangesOf(filter) : all;
    }

    private boolean excludes(List<FilterLevel> levels, FilterCompat.Filter filter) {
        return RowGroupFilter.filterRowGroups(levels, filter, List.of(current()), file).isEmpty();
    }

    private static boolean hasPageIndex(BlockMetaData group) {
        return group.getColumns().stream()
                .noneMatch(column -> column.getOffsetIndexReference() == null);
    }

    /** Parquet-java makes ranges of pages only: here of three, before, in and after the piece. */
    private RowRanges rowsOfPiece() {
        OffsetIndexBuilder pages = OffsetIndexBuilder.getBuilder();
        pages.add(1, firstRow());
        pages.add(1, endRow() - firstRow());
        pages.add(1, current().getRowCount() - endRow());
        return RowRanges.create(current().getRowCount(), IntStream.of(1).iterator(), pages.build());
    }

    private RowRanges rangesOf(FilterCompat.Filter filter) {
        Set<ColumnPath> paths = new HashSet<>();
        for (ColumnChunkMetaData column : current().getColumns()) {
            paths.add(column.getPath());
        }
        return ColumnIndexFilter.calculateRowRanges(
                filter, file.getColumnIndexStore(number()), paths, current().getRowCount());
    }
}
