// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.options;

import java.util.Collection;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.state.rocksdb.RocksDBOptionsFactory;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompactionOptionsUniversal;
import org.rocksdb.CompactionStyle;
import org.rocksdb.DBOptions;

/**
 * Has RocksDB leave files that it wrote alone as long as it can, for {@code
 * state.backend.rocksdb.options-factory}. An incremental checkpoint uploads each file once, and
 * what a compaction makes of it again; a log that is only appended to has nothing to be compacted.
 *
 * <p>Files of a like size are merged when there are {@value #RUNS} of them, so that each byte is
 * written about once for each power of {@value #RUNS} that the state is larger than a checkpoint's
 * share of it; a filter in each file tells which of them has a key.
 */
@PublicEvolving
public final class AppendOnlyRocksDb implements RocksDBOptionsFactory {

    private static final long serialVersionUID = 1L;

    private static final int RUNS = 32;
    private static final double FILTER_BITS_PER_KEY = 10;

    @Override
    public DBOptions createDBOptions(DBOptions options, Collection<AutoCloseable> toClose) {
        return options;
    }

    @Override
    public ColumnFamilyOptions createColumnOptions(
            ColumnFamilyOptions options, Collection<AutoCloseable> toClose) {
        CompactionOptionsUniversal universal = new CompactionOptionsUniversal();
        toClose.add(universal);
        // Rows that are in the way of nothing never call for a merge with all older ones.
        universal.setMaxSizeAmplificationPercent(Integer.MAX_VALUE);
        BloomFilter filter = new BloomFilter(FILTER_BITS_PER_KEY);
        toClose.add(filter);
        BlockBasedTableConfig table =
                options.tableFormatConfig() instanceof BlockBasedTableConfig set
                        ? set
                        : new BlockBasedTableConfig();
        return options.setCompactionStyle(CompactionStyle.UNIVERSAL)
                .setCompactionOptionsUniversal(universal)
                .setLevel0FileNumCompactionTrigger(RUNS)
                .setLevel0SlowdownWritesTrigger(2 * RUNS)
                .setLevel0StopWritesTrigger(3 * RUNS)
                .setTableFormatConfig(table.setFilterPolicy(filter));
    }
}
