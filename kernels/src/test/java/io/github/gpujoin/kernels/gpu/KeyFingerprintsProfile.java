// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryAccount;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Measures the index of hashed keys on the host: the rate of inserts and of updates, and the
 * longest call, all by CPU time of one thread. Keys have 16 bytes. A tool, not a test.
 *
 * <p>Argument: number of keys.
 */
final class KeyFingerprintsProfile {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 4;
    private static final int CHUNK_ROWS = 1 << 13;
    private static final ChunkSchema SIDE =
            ChunkSchema.of(
                    Column.of("hash", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32),
                    Column.of("key", ColumnType.BYTES));

    private KeyFingerprintsProfile() {}

    public static void main(String[] args) {
        int rows = Integer.parseInt(args[0]);
        DimensionSpec side = new DimensionSpec("d", SIDE, 0, 0, JoinKind.INNER, 1, 2);
        for (int round = 0; round < ROUNDS; round++) {
            MemoryAccount account = new MemoryAccount("host");
            try (KeyFingerprints keys = new KeyFingerprints(side, account.within(Long.MAX_VALUE))) {
                System.out.printf(
                        "keys=%d inserts=%s updates=%s bytes/key=%.1f%n",
                        rows,
                        upsert(keys, rows),
                        upsert(keys, rows),
                        (double) account.usedBytes() / rows);
            }
        }
    }

    private static String upsert(KeyFingerprints keys, int rows) {
        ChunkBuilder builder = new ChunkBuilder(SIDE, CHUNK_ROWS * 44 + 4096);
        byte[] key = new byte[16];
        long all = 0;
        long longest = 0;
        for (int row = 0; row < rows; ) {
            for (int i = 0; i < CHUNK_ROWS && row < rows; i++, row++) {
                builder.putLong(0, KeyHash.hash(row));
                builder.putInt(1, RowChange.UPSERT.code());
                Memory.putLong(key, Memory.BYTES, row);
                builder.addBytes(key, 0, key.length);
                builder.endRow();
            }
            Chunk chunk = builder.seal(0, ChunkDescriptor.UNPARTITIONED, 0, 0);
            long start = THREADS.getCurrentThreadCpuTime();
            keys.apply(chunk);
            long ns = THREADS.getCurrentThreadCpuTime() - start;
            all += ns;
            longest = Math.max(longest, ns);
        }
        return "%.1f M/s, longest call %.1f ms".formatted(rows * 1e3 / all, longest / 1e6);
    }
}
