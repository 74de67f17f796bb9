// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.options;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** A log of many partitions, a flush a checkpoint, and what its checkpoints would upload. */
@Timeout(120)
class AppendOnlyRocksDbTest {

    private static final int PARTITIONS = 16;
    private static final int CHUNK_BYTES = 8 << 10;
    private static final int CHECKPOINTS = 100;
    private static final long SEED = 7;

    @TempDir private Path folder;

    private final List<AutoCloseable> toClose = new ArrayList<>();

    @Test
    void shouldUploadEachByteFewTimesHoweverManyCheckpoints() throws Exception {
        ColumnFamilyOptions columns =
                new AppendOnlyRocksDb().createColumnOptions(new ColumnFamilyOptions(), toClose);
        assertThat(uploadedPerByte(columns)).isLessThan(2.2);
    }

    @Test
    void shouldHaveMoreToUploadWithoutIt() throws Exception {
        assertThat(uploadedPerByte(new ColumnFamilyOptions())).isGreaterThan(4);
    }

    /** Bytes of all files that a checkpoint found, for each byte of the log. */
    private double uploadedPerByte(ColumnFamilyOptions columns) throws Exception {
        toClose.add(columns);
        DBOptions db = new AppendOnlyRocksDb().createDBOptions(new DBOptions(), toClose);
        toClose.add(db);
        try (Options options = new Options(db, columns).setCreateIfMissing(true);
                RocksDB rocks = RocksDB.open(options, folder.toString());
                FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
            Map<String, Long> uploaded = new HashMap<>();
            Random random = new Random(SEED);
            for (int checkpoint = 0; checkpoint < CHECKPOINTS; checkpoint++) {
                for (int partition = 0; partition < PARTITIONS; partition++) {
                    byte[] chunk = new byte[CHUNK_BYTES];
                    random.nextBytes(chunk);
                    rocks.put(key(partition, checkpoint), chunk);
                }
                rocks.flush(flush);
                awaitCompactions(rocks);
                for (LiveFileMetaData file : rocks.getLiveFilesMetaData()) {
                    uploaded.put(file.fileName(), file.size());
                }
            }
            for (int partition = 0; partition < PARTITIONS; partition++) {
                assertThat(rocks.get(key(partition, CHECKPOINTS / 2))).hasSize(CHUNK_BYTES);
            }
            long bytes = uploaded.values().stream().mapToLong(Long::longValue).sum();
            return (double) bytes / ((long) CHECKPOINTS * PARTITIONS * CHUNK_BYTES);
        } finally {
            for (AutoCloseable closeable : toClose) {
                closeable.close();
            }
        }
    }

    private static byte[] key(int partition, int position) {
        return ByteBuffer.allocate(2 * Integer.BYTES).putInt(partition).putInt(position).array();
    }

    private static void awaitCompactions(RocksDB rocks)
            throws RocksDBException, InterruptedException {
        // In this order: what is pending may run by the time of the second look.
        while (rocks.getLongProperty("rocksdb.compaction-pending") > 0
                || rocks.getLongProperty("rocksdb.num-running-compactions") > 0) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }
}
