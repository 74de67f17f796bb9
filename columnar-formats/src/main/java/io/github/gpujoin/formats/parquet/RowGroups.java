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
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.filter2.compat.FilterCompat;
import org.apache.parquet.filter2.compat.RowGroupFilter;
import org.apache.parquet.filter2.compat.RowGroupFilter.FilterLevel;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.ColumnPath;
import org.apache.parquet.internal.filter2.columnindex.ColumnIndexFilter;
import org.apache.parquet.internal.filter2.columnindex.RowRanges;
import org.apache.parquet.schema.MessageType;
import org.jspecify.annotations.Nullable;

/** The row groups of a split, and what conditions leave of each. Not thread-safe. */
final class RowGroups {

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

    /** Numbers in the file. */
    private final List<Integer> numbers = new ArrayList<>();

    private int next;

    /**
     * @param file whose requested schema is set
     */
    RowGroups(ParquetFileReader file, ColumnarSplit split) {
        this.file = file;
        this.types = file.getFileMetaData().getSchema();
        List<BlockMetaData> all = file.getRowGroups();
        for (int i = 0; i < all.size(); i++) {
            BlockMetaData group = all.get(i);
            // Arrow writes an empty table as a row group without rows, which parquet-java rejects.
            if (group.getRowCount() > 0
                    && split.contains(group.getStartingPos() + group.getCompressedSize() / 2)) {
                numbers.add(i);
            }
        }
    }

    /** Moves to the next row group; false if there is none. */
    boolean advance() {
        if (next == numbers.size()) {
            return false;
        }
        next++;
        return true;
    }

    /** Returns the number of the current row group in the file; 0 before the first one. */
    int number() {
        return next == 0 ? 0 : numbers.get(next - 1);
    }

    /** Returns the offset of the current row group in the file. */
    long offset() {
        return current().getStartingPos();
    }

    /** Returns the number of rows in the current row group. */
    long rowCount() {
        return current().getRowCount();
    }

    private BlockMetaData current() {
        return file.getRowGroups().get(number());
    }

    /**
     * Reads the current row group, except pages in which no row meets the conditions.
     *
     * @return null if no row of the group meets them
     */
    @Nullable Part read(List<ColumnCondition> conditions) throws IOException {
        FilterPredicate predicate = ParquetConditions.predicate(conditions, types);
        RowRanges all = RowRanges.createSingle(rowCount());
        if (predicate == null) {
            return new Part(file.readRowGroup(number()), all.getRanges());
        }
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
        RowRanges rows = hasPageIndex() ? rangesOf(filter) : all;
        if (rows.rowCount() == 0) {
            return null;
        }
        return rows.rowCount() == rowCount()
                ? new Part(file.readRowGroup(number()), all.getRanges())
                : new Part(file.readFilteredRowGroup(number(), rows), rows.getRanges());
    }

    private boolean excludes(List<FilterLevel> levels, FilterCompat.Filter filter) {
        return RowGroupFilter.filterRowGroups(levels, filter, List.of(current()), file).isEmpty();
    }

    private boolean hasPageIndex() {
        return current().getColumns().stream()
                .noneMatch(column -> column.getOffsetIndexReference() == null);
    }

    private RowRanges rangesOf(FilterCompat.Filter filter) {
        Set<ColumnPath> paths = new HashSet<>();
        for (ColumnChunkMetaData column : current().getColumns()) {
            paths.add(column.getPath());
        }
        return ColumnIndexFilter.calculateRowRanges(
                filter, file.getColumnIndexStore(number()), paths, rowCount());
    }
}
