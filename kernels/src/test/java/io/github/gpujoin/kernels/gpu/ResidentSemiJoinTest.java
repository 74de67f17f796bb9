// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.gpu.SemiJoinCall.Condition;
import io.github.gpujoin.kernels.gpu.SemiJoinCall.KeySet;
import io.github.gpujoin.kernels.gpu.SemiJoinCall.Kind;
import io.github.gpujoin.kernels.gpu.SemiJoinCall.Result;
import io.github.gpujoin.kernels.gpu.SemiJoinCall.Side;
import java.util.Arrays;
import java.util.Random;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Semi-joins and anti joins of random tables, compared with sets. */
@NeedsGpu
class ResidentSemiJoinTest {

    private static final int GROUPS = 5;

    private CudaDriver driver;
    private DeviceLease lease;
    private Buffers buffers;

    @BeforeEach
    void openDevice() {
        driver = CudaDrivers.open(0);
        lease = new DeviceLease(driver, GpuOptions.defaults());
        buffers = lease.memory().buffers(MemoryLimits.of(MemoryBudget.byMachine()));
    }

    @AfterEach
    void closeDevice() {
        buffers.close();
        lease.release();
    }

    /** A table on the host: keys, and the column of the condition {@code value < percent}. */
    private record Table(long[] keys, long[] values, int percent) {

        static Table random(Random random, int rows, int distinct, int step, int percent) {
            long[] keys =
                    random.ints(rows, 0, distinct)
                            .mapToLong(number -> (number - distinct / 2L) * step)
                            .toArray();
            return new Table(keys, random.longs(rows, 0, 100).toArray(), percent);
        }

        boolean isSelected(int row) {
            return values[row] < percent;
        }
    }

    private long upload(long[] values, int widthBytes) {
        long length = Math.max(16, (long) widthBytes * values.length);
        long address = buffers.device(length);
        try (Region region = Region.allocateZeroed(length)) {
            for (int i = 0; i < values.length; i++) {
                Memory.putInteger(
                        null, region.address() + (long) widthBytes * i, widthBytes, values[i]);
            }
            driver.copyToDevice(address, region.address(), length);
        }
        return address;
    }

    /** Expects a tenth less rows than there are, so that some selections are repeated. */
    private Side upload(Table table, int keyBytes, int widthBytes) {
        long keys = upload(table.keys(), keyBytes);
        int rows = table.keys().length;
        if (table.percent() == 100) {
            return Side.of(keys, rows);
        }
        long column = upload(table.values(), widthBytes);
        Condition condition = new Condition(column, 0, 0, table.percent() - 1, widthBytes);
        return new Side(keys, rows, (long) rows * table.percent() / 110, condition);
    }

    @ParameterizedTest(
            name = "{0} bits, {1} x {2} rows, {3} keys of step {4}, {5} and {6} % selected")
    @CsvSource({
        "64, 0, 10, 5, 1, 100, 100",
        "64, 10, 0, 5, 1, 100, 100",
        "64, 1, 1, 1, 1, 100, 100",
        "64, 1000, 5000, 700, 1, 100, 100",
        "32, 5000, 1000, 700, 32, 100, 100",
        "64, 5000, 5000, 1, 1, 100, 100",
        "64, 300001, 1000001, 400000, 4, 5, 63",
        "32, 300001, 1000001, 400000, 4, 5, 63",
        "64, 1000001, 300001, 400000, 256, 63, 5",
        "32, 1000001, 300001, 400000, 256, 63, 5",
        "64, 2000, 1000000, 10, 1, 100, 1"
    })
    void shouldReturnTheRowsWithAndWithoutMatch(
            int bits,
            int leftRows,
            int rightRows,
            int distinct,
            int step,
            int leftPercent,
            int rightPercent) {
        Random random = new Random(bits + 31L * leftRows + rightRows);
        Table left = Table.random(random, leftRows, distinct, step, leftPercent);
        Table right = Table.random(random, rightRows, distinct, step, rightPercent);
        var matched =
                IntStream.range(0, rightRows)
                        .filter(right::isSelected)
                        .mapToObj(row -> right.keys()[row])
                        .collect(Collectors.toSet());
        IntPredicate isMatched = row -> matched.contains(left.keys()[row]);
        long[] groups = random.longs(leftRows, 0, GROUPS).toArray();
        Side leftSide = upload(left, bits / 8, 2);
        Side rightSide = upload(right, bits / 8, 4);
        long groupColumn = upload(groups, 1);
        for (KeySet set : KeySet.values()) {
            for (Kind kind : Kind.values()) {
                IntPredicate isResult = kind == Kind.SEMI ? isMatched : isMatched.negate();
                int[] expected =
                        IntStream.range(0, leftRows)
                                .filter(left::isSelected)
                                .filter(isResult)
                                .toArray();
                assertResult(bits, leftSide, rightSide, kind, set, groupColumn, groups, expected);
            }
        }
    }

    private void assertResult(
            int bits,
            Side left,
            Side right,
            Kind kind,
            KeySet set,
            long groupColumn,
            long[] groups,
            int[] expected) {
        try (Buffers scratch = buffers.sibling()) {
            long listed = scratch.device(Math.max(16, 4L * expected.length));
            long counts = scratch.device(8L * GROUPS);
            Result result = new Result(groupColumn, 1, GROUPS, counts, listed, expected.length);

            long rows =
                    new ResidentSemiJoin(driver, bits, scratch)
                            .join(left, right, result, kind, set);

            assertThat(rows).as("%s %s", kind, set).isEqualTo(expected.length);
            assertThat(readRows(listed, expected.length)).isEqualTo(expected);
            long[] expectedCounts = new long[GROUPS];
            for (int row : expected) {
                expectedCounts[(int) groups[row]]++;
            }
            assertThat(readLongs(counts, GROUPS)).isEqualTo(expectedCounts);
        }
    }

    private int[] readRows(long address, int count) {
        try (Region region = Region.allocate(Math.max(16, 4L * count))) {
            driver.copyToHost(region.address(), address, Math.max(16, 4L * count));
            int[] rows = new int[count];
            for (int i = 0; i < count; i++) {
                rows[i] = Memory.getInt(region.address() + 4L * i);
            }
            Arrays.sort(rows);
            return rows;
        }
    }

    private long[] readLongs(long address, int count) {
        try (Region region = Region.allocate(8L * count)) {
            driver.copyToHost(region.address(), address, 8L * count);
            return IntStream.range(0, count)
                    .mapToLong(i -> Memory.getLong(region.address() + 8L * i))
                    .toArray();
        }
    }

    @Test
    void shouldRejectGroupsOutOfRange() {
        long keys = upload(new long[] {1, 2, 3}, 8);
        Side side = Side.of(keys, 3);
        long groups = upload(new long[] {0, 2, -1}, 2);
        Result result = new Result(groups, 2, 2, buffers.device(16), 0, 0);
        ResidentSemiJoin join = new ResidentSemiJoin(driver, 64, buffers);

        assertThatThrownBy(() -> join.join(side, side, result, Kind.SEMI, KeySet.AUTO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Result rows have groups out of range: rows=2, groups=2");
    }
}
