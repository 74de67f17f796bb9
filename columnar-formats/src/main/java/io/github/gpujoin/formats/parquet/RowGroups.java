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
     * A group is cut at multiples of this many rows. Pages have 20,000 rows or fewer by default,
     * and both readers decode those in which a cut lies.
     */
    private static final long CUT_ROWS = 1 << 16;

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
     * The rows of a group that belong to the split.
     *
     * @param number of the group in the file
     */
    private record Share(int number, long firstRow, long endRow) {}

    private final List<Share> shares = new ArrayList<>();
    private int next;

    /**
     * @param file whose requested schema is set
     */
    RowGroups(ParquetFileReader file, ColumnarSplit split) {
        this.file = file;
        this.types = file.getFileMetaData().getSchema();
        List<BlockMetaData> all = file.getRowGroups();
        for (int i = 0; i < all.size(); i++) {
            // Arrow writes an empty table as a row group without rows, which parquet-java rejects.
            BlockMetaData group = all.get(i);
            long firstRow = rowAt(group, split.offset());
            long endRow = rowAt(group, split.end());
            if (firstRow < endRow) {
                shares.add(new Share(i, firstRow, endRow));
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

    /** Moves to the next row group; false if there is none. */
    boolean advance() {
        if (next == shares.size()) {
            return false;
        }
        next++;
        return true;
    }

    /** Returns the number of the current row group in the file; 0 before the first one. */
    int number() {
        return next == 0 ? 0 : share().number();
    }

    private Share share() {
        return shares.get(next - 1);
    }

    /** Returns the offset of the current row group in the file. */
    long offset() {
        return current().getStartingPos();
    }

    /** Returns the first row of the current row group that belongs to the split. */
    long firstRow() {
        return share().firstRow();
    }

    /** Returns the row after the last one of the current row group that belongs to the split. */
    long endRow() {
        return share().endRow();
    }

    private BlockMetaData current() {
        return file.getRowGroups().get(number());
    }

    /**
     * Reads the split's rows of the current row group, except pages in which no row meets the
     * conditions.
     *
     * @return null if no row meets them
     */
    @Nullable Part read(List<ColumnCondition> conditions) throws IOException {
        RowRanges rows = rowsOfShare();
        FilterPredicate predicate = ParquetConditions.predicate(conditions, types);
        if (predicate != null) {
            FilterCompat.Filter filter = FilterCompat.get(predicate);
            if (excludes(LEVELS, filter)) {
                return null;
            }
            FilterPredicate ranges =
                    ParquetConditions.predicate(
                            conditions.stream()
                                    .filter(c -> c.values() instanceof RangeCondition)
                                    .toList(),
                            types);
            if (ranges != null && excludes(DICTIONARIES, FilterCompat.get(ranges))) {
                return null;
            }
            if (hasPageIndex(current())) {
                rows = RowRanges.intersection(rows, rangesOf(filter));
            }
        }
        if (rows.rowCount() == 0) {
            return null;
        }
        return rows.rowCount() == current().getRowCount()
                ? new Part(file.readRowGroup(number()), rows.getRanges())
                : new Part(file.readFilteredRowGroup(number(), rows), rows.getRanges());
    }

    private boolean excludes(List<FilterLevel> levels, FilterCompat.Filter filter) {
        return RowGroupFilter.filterRowGroups(levels, filter, List.of(current()), file).isEmpty();
    }

    private static boolean hasPageIndex(BlockMetaData group) {
        return group.getColumns().stream()
                .noneMatch(column -> column.getOffsetIndexReference() == null);
    }

    /** Parquet-java makes ranges of pages only: here of three, before, in and after the share. */
    private RowRanges rowsOfShare() {
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
