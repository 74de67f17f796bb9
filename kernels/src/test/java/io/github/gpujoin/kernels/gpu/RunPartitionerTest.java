// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static io.github.gpujoin.kernels.gpu.BulkRunLayout.RUN_ROWS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Division of runs by partition, on a device that the CPU emulates. */
@ExtendWith(RegionLeakExtension.class)
class RunPartitionerTest {

    private static final BulkRunLayout LAYOUT = layout();

    private static BulkRunLayout layout() {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("key", ColumnType.INT64), Column.of("row", ColumnType.INT32));
        BulkJoinSpec spec =
                new BulkJoinSpec(
                        new BulkInput("l", schema, List.of(0)),
                        new BulkInput("r", schema, List.of(0)),
                        BulkJoinKind.INNER,
                        false,
                        new BulkOutput.Rows(List.of(0, 1), List.of()));
        return new BulkRunLayout(spec, JoinSide.LEFT);
    }

    /** Writes rows of given partitions to runs, and divides them. Rows have consecutive numbers. */
    private static final class Feeder {

        private final BulkMemory memory;
        private final RunPartitioner partitioner;
        private final long[] words;
        private final List<Long> runs = new ArrayList<>();
        private long rows;
        private long rowsBefore;

        Feeder(BulkMemory memory, RunPartitioner partitioner, int partitions) {
            this.memory = memory;
            this.partitioner = partitioner;
            this.words = new long[partitions];
            for (int p = 0; p < partitions; p++) {
                while (partitionOf(words[p], partitions) != p) {
                    words[p]++;
                }
            }
        }

        void write(int partition, int count) {
            for (int i = 0; i < count; i++) {
                int at = (int) (rows % RUN_ROWS);
                if (at == 0) {
                    runs.add(memory.allocate(LAYOUT.lengthBytes()));
                }
                long run = runs.get(runs.size() - 1);
                Memory.putLong(run + (long) Long.BYTES * at, words[partition]);
                long row = run + LAYOUT.offset(1) + (long) Integer.BYTES * at;
                Memory.putInt(row, (int) (rowsBefore + rows));
                rows++;
            }
        }

        void divide() throws InterruptedException {
            partitioner.divideAll(runs, rows);
            rowsBefore += rows;
            runs.clear();
            rows = 0;
        }
    }

    private static int partitionOf(long word, int partitions) {
        long bits = KeyHash.hash(word) >>> RunDivision.PARTITION_SHIFT & RunDivision.MAX_PARTS - 1;
        return (int) (bits * partitions / RunDivision.MAX_PARTS);
    }

    /**
     * Fills the open run of each partition up to one row, and adds two rows to each but the last,
     * which receives all other rows: no area needs more runs.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 16, 64})
    void shouldDivideAnAreaThatFillsAllOpenRuns(int partitions) throws Exception {
        HostBulkDevice host = new HostBulkDevice();
        try (BulkDevices devices = host.open(GpuOptions.defaults())) {
            BulkDevice device = devices.first();
            BulkMemory memory = device.newMemory();
            RunStore store = new RunStore(device, memory, null, LAYOUT.lengthBytes());
            RunPartitioner partitioner =
                    new RunPartitioner(device, memory, LAYOUT, store, partitions);
            Feeder feeder = new Feeder(memory, partitioner, partitions);
            for (int p = 0; p < partitions; p++) {
                feeder.write(p, RUN_ROWS - 1);
                feeder.divide();
            }
            int areaRows = Math.max(1, partitions / 2) * RUN_ROWS;
            for (int p = 0; p < partitions - 1; p++) {
                feeder.write(p, 2);
            }
            feeder.write(partitions - 1, areaRows - 2 * (partitions - 1));
            feeder.divide();

            assertDivided(partitioner.finish(), partitions, feeder.rowsBefore);
        }
        assertThat(host.usedBytes()).isZero();
    }

    /** Runs of a partition have memory for one run, and then for more and more. */
    @Test
    void shouldCopyAdjacentRunsOfAPartitionTogether() throws Exception {
        int runs = 12;
        HostBulkDevice host = new HostBulkDevice();
        try (BulkDevices devices = host.open(GpuOptions.defaults())) {
            BulkDevice device = devices.first();
            BulkMemory memory = device.newMemory();
            RunStore store = new RunStore(device, memory, null, LAYOUT.lengthBytes());
            RunPartitioner partitioner = new RunPartitioner(device, memory, LAYOUT, store, 2);
            Feeder feeder = new Feeder(memory, partitioner, 2);
            for (int run = 0; run < runs; run++) {
                feeder.write(0, RUN_ROWS);
                feeder.write(1, RUN_ROWS);
                feeder.divide();
            }
            List<List<StoredRun>> stored = partitioner.finish();
            long target = memory.allocate((long) runs * LAYOUT.lengthBytes());
            store.startCopies(stored.get(1), target, LAYOUT.lengthBytes());
            device.awaitCopies();
            // 1, 1, 1, 1, 2, then 1 at the end of a slab, 3 and 2 runs
            assertThat(host.copyThreads()).hasSize(8);
            for (int run = 0; run < runs; run++) {
                long source = stored.get(1).get(run).address();
                for (int at = 0; at < LAYOUT.lengthBytes(); at += Long.BYTES) {
                    long copied = target + (long) run * LAYOUT.lengthBytes() + at;
                    if (Memory.getLong(copied) != Memory.getLong(source + at)) {
                        assertThat(Memory.getLong(copied))
                                .as("run %d, byte %d", run, at)
                                .isEqualTo(Memory.getLong(source + at));
                    }
                }
            }
        }
        assertThat(host.usedBytes()).isZero();
    }

    /** Each row is in its partition once, and all runs of a partition but the last are full. */
    private static void assertDivided(
            List<List<StoredRun>> stored, int partitions, long expectedRows) {
        boolean[] isFound = new boolean[(int) expectedRows];
        long found = 0;
        for (int p = 0; p < partitions; p++) {
            List<StoredRun> runs = stored.get(p);
            for (StoredRun run : runs) {
                if (run != runs.get(runs.size() - 1)) {
                    assertThat(run.rows()).isEqualTo(RUN_ROWS);
                }
                for (int at = 0; at < run.rows(); at++) {
                    long word = Memory.getLong(run.address() + (long) Long.BYTES * at);
                    long column = run.address() + LAYOUT.offset(1);
                    int row = Memory.getInt(column + (long) Integer.BYTES * at);
                    if (partitionOf(word, partitions) != p || isFound[row]) {
                        assertThat(isFound[row]).as("row %d in partition %d", row, p).isFalse();
                        assertThat(partitionOf(word, partitions)).isEqualTo(p);
                    }
                    isFound[row] = true;
                    found++;
                }
            }
        }
        assertThat(found).isEqualTo(expectedRows);
    }
}
