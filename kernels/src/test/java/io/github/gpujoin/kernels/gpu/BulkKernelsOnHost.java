// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.KernelImage;
import io.github.gpujoin.kernels.gpu.ResidentJoin.ItemRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the kernels of {@code bulk.cu} and {@code resident.cu} compute, on memory of the host. There
 * is one partition; its work items are divided, joined and counted as on a device. Rows are in
 * runs.
 */
final class BulkKernelsOnHost {

    private static final int CLAIMED_OFFSET = 0;
    private static final int EXTRA_OFFSET = 8;
    private static final int WORKSPACE_BYTES = 16;

    /** 13 kernels of each table, and 3 that merge. */
    private static final int SORT_MERGE_SHAPES = 29;

    /** A table of the call. */
    private record Table(long runs, long rows, int wordBytes) {

        static Table read(long[] call, int table, int wordBytes) {
            int at = 4 * table;
            return new Table(call[at + 3], call[at + 2], wordBytes);
        }

        long key(long row) {
            return Memory.getInteger(null, address(runs, row, 0, wordBytes), wordBytes);
        }

        /** Compares whole words, as a device does, so that it depends on the padding. */
        boolean hasEqualKey(long row, Table other, long otherRow) {
            long left = keyRecord(row);
            long right = other.keyRecord(otherRow);
            int end = Integer.BYTES + Memory.getInt(left);
            boolean isEqual = true;
            for (int at = 0; isEqual && at < end; at += Long.BYTES) {
                isEqual = Memory.getLong(left + at) == Memory.getLong(right + at);
            }
            return isEqual;
        }

        private long keyRecord(long row) {
            long offset = (long) BulkRunLayout.RUN_ROWS * wordBytes;
            return Memory.getLong(address(runs, row, offset, Long.BYTES));
        }

        int parts(int partRows) {
            return (int) ((rows + partRows - 1) / partRows);
        }
    }

    private BulkKernelsOnHost() {}

    /** The driver finds only the kernels that an image lists. */
    private static void requireListed(String kernel) {
        if (Arrays.stream(KernelImage.values())
                .noneMatch(image -> image.kernels().contains(kernel))) {
            throw new IllegalArgumentException("Kernel is in no list: kernel=" + kernel);
        }
    }

    private static long address(long runs, long row, long offset, long stride) {
        long run = Memory.getLong(runs + Long.BYTES * (row / BulkRunLayout.RUN_ROWS));
        return run + offset + row % BulkRunLayout.RUN_ROWS * stride;
    }

    /** Runs a kernel that {@code launch} or {@code launchWithSharedMemory} names. */
    static void run(String kernel, long[][] arguments) {
        requireListed(kernel);
        String name = kernel.replaceFirst("^gpujoin_", "");
        int bits = Integer.parseInt("0" + name.replaceFirst(".*_(\\d*)$|.*", "$1"));
        if (name.startsWith("resident_plan")) {
            plan(arguments[0][0]);
        } else if (name.startsWith("resident_items")) {
            planItems(arguments[0], (int) arguments[1][0], bits / Byte.SIZE);
        } else if (name.startsWith("resident_join")) {
            join(arguments[0], arguments[1], bits / Byte.SIZE, name.contains("_hashed"));
        } else if (name.startsWith("resident_mark")) {
            mark(arguments, bits / Byte.SIZE, name.contains("_hashed"));
        } else if (name.equals("bulk_copy")) {
            long words = arguments[2][0];
            Memory.copy(null, arguments[1][0], null, arguments[0][0], Long.BYTES * words);
        } else if (name.startsWith("bulk_count")) {
            countPartitions(arguments, bits / Byte.SIZE);
        } else if (name.startsWith("bulk_divide")) {
            divide(arguments, bits / Byte.SIZE);
        } else if (name.startsWith("bulk_gather")) {
            gather(arguments, bits / Byte.SIZE, bits / Byte.SIZE);
        } else if (name.startsWith("bulk_widen")) {
            gather(arguments, bits / Byte.SIZE, Long.BYTES);
        } else if (name.startsWith("bulk_number")) {
            number(arguments, bits / Byte.SIZE);
        } else if (name.matches("sort_merge_plan_\\d+")) {
            Memory.putLong(arguments[0][0] + SortMergeCall.WORKSPACE_BYTES_OFFSET, WORKSPACE_BYTES);
            for (int shape = 0; shape < SORT_MERGE_SHAPES; shape++) {
                long at = arguments[0][0] + SortMergeCall.SHAPES_OFFSET;
                Memory.putInt(at + (long) SortMergeCall.SHAPE_BYTES * shape, 1);
            }
        } else if (name.startsWith("sort_merge_merge_tiles")) {
            merge(arguments[0], bits / Byte.SIZE);
        } else if (name.equals("bulk_select")) {
            select(arguments);
        } else if (name.equals("bulk_aggregate")) {
            aggregate(arguments);
        }
    }

    private static void plan(long call) {
        long workspace = Memory.getLong(call + ResidentCall.MEMORY_OFFSET);
        Memory.putLong(call + ResidentCall.WORKSPACE_BYTES_OFFSET, WORKSPACE_BYTES);
        for (int offset = 0; offset < ResidentCall.LAUNCH_BYTES; offset += Integer.BYTES) {
            Memory.putInt(call + ResidentCall.LAUNCH_OFFSET + offset, 1);
        }
        Memory.putLong(call + ResidentCall.CLAIMED_ITEMS_OFFSET, workspace + CLAIMED_OFFSET);
        Memory.putLong(call + ResidentCall.EXTRA_ITEMS_OFFSET, workspace + EXTRA_OFFSET);
    }

    private static long workspace(long[] call) {
        return call[ResidentCall.MEMORY_OFFSET / Long.BYTES];
    }

    private static void planItems(long[] call, int build, int wordBytes) {
        Table builds = Table.read(call, build, wordBytes);
        Table probes = Table.read(call, 1 - build, wordBytes);
        long items =
                (long) builds.parts(ItemRange.ITEM_BUILD_ROWS)
                        * probes.parts(ItemRange.ITEM_PROBE_ROWS);
        Memory.putLong(workspace(call) + CLAIMED_OFFSET, 0);
        Memory.putLong(workspace(call) + EXTRA_OFFSET, Math.max(0, items - 1));
        Memory.putLong(call[ResidentCall.MATCHES_OFFSET / Long.BYTES + 4], 0);
    }

    @FunctionalInterface
    private interface Pairs {
        void found(long build, long probe);
    }

    private static void forPairs(
            long[] call, int build, long[] range, int wordBytes, boolean isHashed, Pairs pairs) {
        Table builds = Table.read(call, build, wordBytes);
        Table probes = Table.read(call, 1 - build, wordBytes);
        long claimed = workspace(call) + CLAIMED_OFFSET;
        long items = 1 + Memory.getLong(workspace(call) + EXTRA_OFFSET);
        int slices = Math.max(1, probes.parts(ItemRange.ITEM_PROBE_ROWS));
        int skipped = (int) range[1];
        int most = (int) (range[1] >>> Integer.SIZE);
        for (long item = Memory.getLong(claimed); item < Math.min(range[0], items); item++) {
            long firstBuild = item / slices * ItemRange.ITEM_BUILD_ROWS;
            long endBuild = Math.min(builds.rows(), firstBuild + ItemRange.ITEM_BUILD_ROWS);
            long firstProbe = item % slices * ItemRange.ITEM_PROBE_ROWS;
            long endProbe = Math.min(probes.rows(), firstProbe + ItemRange.ITEM_PROBE_ROWS);
            Map<Long, List<Long>> table = new HashMap<>();
            for (long row = firstBuild; row < endBuild; row++) {
                table.computeIfAbsent(builds.key(row), key -> new ArrayList<>()).add(row);
            }
            long first = firstProbe + skipped;
            for (long row = first; row < Math.min(endProbe, first + most); row++) {
                for (long match : table.getOrDefault(probes.key(row), List.of())) {
                    if (!isHashed || builds.hasEqualKey(match, probes, row)) {
                        pairs.found(match, row);
                    }
                }
            }
        }
        // the device's blocks claim more than there is
        Memory.putLong(claimed, range[0] + 7);
    }

    private static void join(long[] call, long[] range, int wordBytes, boolean isHashed) {
        int matches = ResidentCall.MATCHES_OFFSET / Long.BYTES;
        long capacity = call[matches + 3];
        long counter = call[matches + 4];
        forPairs(
                call,
                0,
                range,
                wordBytes,
                isHashed,
                (build, probe) -> {
                    long at = Memory.getLong(counter);
                    if (at < capacity) {
                        long offset = at * wordBytes;
                        Memory.putInteger(null, call[matches + 1] + offset, wordBytes, build);
                        Memory.putInteger(null, call[matches + 2] + offset, wordBytes, probe);
                    }
                    Memory.putLong(counter, at + 1);
                });
    }

    private static void mark(long[][] arguments, int wordBytes, boolean isHashed) {
        long marks = arguments[3][0];
        forPairs(
                arguments[0],
                (int) arguments[1][0],
                arguments[2],
                wordBytes,
                isHashed,
                (build, probe) -> Memory.putByte(marks + probe, (byte) 1));
    }

    private static void number(long[][] arguments, int width) {
        for (long i = 0; i < arguments[0][0]; i++) {
            Memory.putInteger(null, arguments[1][0] + width * i, width, i);
        }
    }

    /** Merges two ordered tables of columns. */
    private static void merge(long[] call, int wordBytes) {
        long[] right = Arrays.copyOfRange(call, 4, 8);
        int matches = SortMergeCall.MATCHES_OFFSET / Long.BYTES;
        long count = 0;
        long first = 0;
        for (long row = 0; row < call[2]; row++) {
            long key = column(call[0], row, wordBytes);
            while (first < right[2] && column(right[0], first, wordBytes) < key) {
                first++;
            }
            for (long match = first;
                    match < right[2] && column(right[0], match, wordBytes) == key;
                    match++) {
                if (count < call[matches + 3]) {
                    long offset = wordBytes * count;
                    long build = column(call[1], row, wordBytes);
                    long probe = column(right[1], match, wordBytes);
                    Memory.putInteger(null, call[matches + 1] + offset, wordBytes, build);
                    Memory.putInteger(null, call[matches + 2] + offset, wordBytes, probe);
                }
                count++;
            }
        }
        Memory.putLong(call[matches + 4], count);
    }

    private static long column(long address, long row, int width) {
        return Memory.getInteger(null, address + width * row, width);
    }

    private static long rowNumber(long[] rows, long i) {
        return rows[0] == 0
                ? rows[1] + i
                : Memory.getInteger(null, rows[0] + (rows[1] + i) * rows[2], (int) rows[2]);
    }

    private static void gather(long[][] arguments, int width, int targetWidth) {
        long[] column = arguments[0];
        for (long i = 0; i < arguments[2][0]; i++) {
            long row = rowNumber(arguments[1], i);
            long value =
                    Memory.getInteger(null, address(column[0], row, column[1], column[2]), width);
            Memory.putInteger(null, arguments[3][0] + i * targetWidth, targetWidth, value);
        }
    }

    /** Returns the part of a row, as on a device. */
    private static int partition(long[] rows, long row, int wordBytes) {
        long word = Memory.getInteger(null, address(rows[0], row, 0, wordBytes), wordBytes);
        return (int)
                ((KeyHash.hash(word) >>> rows[3] & RunDivision.MAX_PARTS - 1)
                        * rows[2]
                        / RunDivision.MAX_PARTS);
    }

    private static void countPartitions(long[][] arguments, int wordBytes) {
        for (long row = 0; row < arguments[0][1]; row++) {
            increment(arguments[1][0] + 4L * partition(arguments[0], row, wordBytes));
        }
    }

    private static int increment(long counter) {
        int value = Memory.getInt(counter);
        Memory.putInt(counter, value + 1);
        return value;
    }

    private static void divide(long[][] arguments, int wordBytes) {
        long[] source = arguments[0];
        long[] target = arguments[1];
        for (long row = 0; row < source[1]; row++) {
            int partition = partition(source, row, wordBytes);
            int at = increment(target[0] + 4L * partition);
            int firstRun = Memory.getInt(target[1] + 4L * partition);
            long runs = target[2] + (long) Long.BYTES * firstRun;
            for (long column = 0; column < arguments[3][0]; column++) {
                long shape = arguments[2][0] + 8 * column;
                int offset = Memory.getInt(shape);
                int width = Memory.getInt(shape + 4);
                long from = address(source[0], row, offset, width);
                Memory.copy(null, from, null, address(runs, at, offset, width), width);
            }
        }
    }

    private static void select(long[][] arguments) {
        long[] a = Arrays.stream(arguments).mapToLong(words -> words[0]).toArray();
        long counter = a[5];
        for (long row = a[2]; row < a[2] + a[3]; row++) {
            if (Memory.getByte(a[0] + row) == a[1]) {
                long at = Memory.getLong(counter);
                if (a[4] != 0) {
                    Memory.putInt(a[4] + Integer.BYTES * at, (int) row);
                }
                Memory.putLong(counter, at + 1);
            }
        }
    }

    private static void aggregate(long[][] arguments) {
        long aggregation = arguments[0][0];
        long[] values = arguments[1];
        int columns = Memory.getInt(aggregation + GroupDescriptor.AGGREGATION_COLUMN_COUNT_OFFSET);
        int aggregates =
                Memory.getInt(aggregation + GroupDescriptor.AGGREGATION_AGGREGATE_COUNT_OFFSET);
        for (long row = 0; row < arguments[2][0]; row++) {
            long[] key = new long[columns];
            for (int c = 0; c < columns; c++) {
                long source =
                        aggregation
                                + GroupDescriptor.AGGREGATION_COLUMNS_OFFSET
                                + (long) GroupDescriptor.VALUE_SOURCE_BYTES * c;
                key[c] = value(values, source, row);
            }
            long sums = group(aggregation, key, aggregates) + (long) Long.BYTES * columns;
            for (int a = 0; a < aggregates; a++) {
                long at =
                        aggregation
                                + GroupDescriptor.AGGREGATION_AGGREGATES_OFFSET
                                + (long) GroupDescriptor.AGGREGATE_BYTES * a;
                long product = 1;
                for (int f = 0;
                        f < Memory.getInt(at + GroupDescriptor.AGGREGATE_FACTOR_COUNT_OFFSET);
                        f++) {
                    long source =
                            at
                                    + GroupDescriptor.AGGREGATE_FACTORS_OFFSET
                                    + (long) GroupDescriptor.VALUE_SOURCE_BYTES * f;
                    product *= value(values, source, row);
                }
                long sum = sums + (long) Long.BYTES * a;
                Memory.putLong(sum, Memory.getLong(sum) + product);
            }
        }
    }

    private static long value(long[] columns, long source, long row) {
        int column = Memory.getInt(source + GroupDescriptor.VALUE_SOURCE_AT_OFFSET);
        return Memory.getLong(columns[0] + Long.BYTES * (column * columns[1] + row));
    }

    /** Returns the address of a group, which is appended if it is new. */
    private static long group(long aggregation, long[] key, int aggregates) {
        long groups = Memory.getLong(aggregation + GroupDescriptor.AGGREGATION_GROUPS_OFFSET);
        long counter = Memory.getLong(aggregation + GroupDescriptor.AGGREGATION_GROUP_COUNT_OFFSET);
        int count = Memory.getInt(counter);
        long groupBytes = (long) Long.BYTES * (key.length + aggregates);
        for (int g = 0; g < count; g++) {
            boolean isSame = true;
            for (int c = 0; c < key.length; c++) {
                isSame &= Memory.getLong(groups + groupBytes * g + 8L * c) == key[c];
            }
            if (isSame) {
                return groups + groupBytes * g;
            }
        }
        long group = groups + groupBytes * count;
        Memory.fill(null, group, groupBytes, (byte) 0);
        for (int c = 0; c < key.length; c++) {
            Memory.putLong(group + 8L * c, key[c]);
        }
        Memory.putInt(counter, count + 1);
        return group;
    }
}
