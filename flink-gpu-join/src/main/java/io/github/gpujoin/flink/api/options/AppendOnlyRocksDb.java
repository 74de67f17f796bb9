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
 * RocksDB options with few compactions, for state that is mostly appended to. Set the class as
 * {@code state.backend.rocksdb.options-factory}. An incremental checkpoint uploads each new file,
 * also those that a compaction writes; compacting an append-only log removes nothing.
 *
 * <p>RocksDB compacts universally once there are {@value #RUNS} sorted runs, preferably runs of
 * similar size. So it rewrites each byte about log<sub>{@value #RUNS}</sub>(<i>s</i> / <i>c</i>)
 * times, where <i>s</i> is the size of the state and <i>c</i> the bytes that one checkpoint adds. A
 * Bloom filter in each file saves most reads of files without the key.
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
        // By default RocksDB merges all files once the newer ones exceed 200 % of the oldest.
        // Appended rows replace no older rows, so the merge would free no space.
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
