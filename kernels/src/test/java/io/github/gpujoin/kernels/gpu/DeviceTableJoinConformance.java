// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Joins of random tables in device memory, compared with a map of lists. */
abstract class DeviceTableJoinConformance {

    /** Returns a join for words of 32 or 64 bits. */
    abstract DeviceTableJoin open(CudaDriver driver, int wordBits, Buffers scratch);

    /** Returns whether results are in ascending order of their keys. */
    abstract boolean isOrdered();

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

    private long upload(long[] values, int wordBytes) {
        long length = Math.max(16, (long) wordBytes * values.length);
        long address = buffers.device(length);
        try (Region region = Region.allocateZeroed(length)) {
            for (int i = 0; i < values.length; i++) {
                Memory.putInteger(
                        null, region.address() + (long) wordBytes * i, wordBytes, values[i]);
            }
            driver.copyToDevice(address, region.address(), length);
        }
        return address;
    }

    private static long[] numbers(int count) {
        long[] numbers = new long[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = i;
        }
        return numbers;
    }

    private static long[] keys(Random random, int count, int distinct) {
        return random.longs(count)
                .map(value -> Math.floorMod(value, distinct) - distinct / 2)
                .toArray();
    }

    @ParameterizedTest(name = "{0} bits, {1} x {2} rows, {3} keys")
    @CsvSource({
        "64, 0, 10, 5",
        "64, 10, 0, 5",
        "64, 1, 1, 1",
        "64, 1000, 5000, 700",
        "32, 1000, 5000, 700",
        "64, 3000000, 4000000, 2000000",
        "32, 3000000, 4000000, 2000000",
        "64, 200000, 300000, 3000",
        "64, 5000, 5000, 1"
    })
    void shouldFindEveryPairOfEqualKeys(int bits, int buildRows, int probeRows, int distinct) {
        Random random = new Random(bits + 31L * buildRows + probeRows);
        assertJoin(bits, keys(random, buildRows, distinct), keys(random, probeRows, distinct));
    }

    /**
     * Partitions of all sizes. Guessed slots of a radix join are too small in the second pass with
     * low powers, and in both with high ones; rows in the order of their keys fill a few slots
     * first.
     */
    @ParameterizedTest(name = "{0} bits, power {1}, sorted {2}")
    @CsvSource({
        "64, 2, false",
        "64, 8, false",
        "64, 60, false",
        "32, 8, false",
        "64, 1, true",
        "64, 8, true"
    })
    void shouldFindEveryPairOfSkewedKeys(int bits, int power, boolean isSorted) {
        Random random = new Random(bits + power);
        long[] build = numbers(3_000_000);
        long[] probe =
                random.doubles(4_000_000)
                        .mapToLong(value -> (long) (Math.pow(value, power) * build.length))
                        .toArray();
        if (isSorted) {
            Arrays.sort(probe);
        }
        assertJoin(bits, build, probe);
    }

    /** The least and the greatest words, and those around 0, each in a seventh of the rows. */
    @ParameterizedTest(name = "{0} bits, {1} x {2} rows, sorted {3}")
    @CsvSource({
        "64, 3000, 4000, false",
        "32, 3000, 4000, true",
        "64, 500000, 30, true",
        "32, 500000, 30, false",
        "64, 30, 500000, false",
        "32, 30, 500000, true"
    })
    void shouldFindEveryPairOfExtremeKeys(
            int bits, int buildRows, int probeRows, boolean isSorted) {
        Random random = new Random(bits + buildRows);
        long[] build = extremeKeys(random, bits, buildRows);
        long[] probe = extremeKeys(random, bits, probeRows);
        if (isSorted) {
            Arrays.sort(build);
            Arrays.sort(probe);
        }
        assertJoin(bits, build, probe);
    }

    private static long[] extremeKeys(Random random, int bits, int count) {
        long least = bits == Integer.SIZE ? Integer.MIN_VALUE : Long.MIN_VALUE;
        long[] extremes = {least, least + 1, -1, 0, 1, ~least - 1, ~least};
        return random.ints(count, 0, extremes.length).mapToLong(i -> extremes[i]).toArray();
    }

    private void assertJoin(int bits, long[] build, long[] probe) {
        int wordBytes = bits / Byte.SIZE;
        int buildRows = build.length;
        int probeRows = probe.length;
        Map<Long, List<Integer>> rows = new HashMap<>();
        for (int i = 0; i < build.length; i++) {
            rows.computeIfAbsent(build[i], key -> new ArrayList<>()).add(i);
        }
        long expected = 0;
        for (long key : probe) {
            expected += rows.getOrDefault(key, List.of()).size();
        }
        ResidentCall.Table buildTable =
                ResidentCall.Table.ofColumns(
                        upload(build, wordBytes), upload(numbers(buildRows), wordBytes), buildRows);
        ResidentCall.Table probeTable =
                ResidentCall.Table.ofColumns(
                        upload(probe, wordBytes), upload(numbers(probeRows), wordBytes), probeRows);
        long resultBytes = Math.max(16, wordBytes * expected);
        ResidentCall.Matches matches =
                new ResidentCall.Matches(
                        0,
                        buffers.device(resultBytes),
                        buffers.device(resultBytes),
                        expected,
                        buffers.device(Long.BYTES));
        DeviceTableJoin join = open(driver, bits, buffers);
        long workspace = buffers.device(join.workspaceBytes(buildTable, probeTable));

        join.start(buildTable, probeTable, matches, workspace);
        while (!driver.isIdle()) {
            LockSupport.parkNanos(10_000);
        }

        assertThat(count(matches)).isEqualTo(expected);
        assertPairs(matches, wordBytes, build, probe, (int) expected);
    }

    private long count(ResidentCall.Matches matches) {
        try (Region region = Region.allocate(Long.BYTES)) {
            driver.copyToHost(region.address(), matches.matchCount(), Long.BYTES);
            return Memory.getLong(region.address());
        }
    }

    /** As many different pairs as expected, each of equal keys, are all pairs. */
    private void assertPairs(
            ResidentCall.Matches matches, int wordBytes, long[] build, long[] probe, int count) {
        long bytes = Math.max(16, (long) wordBytes * count);
        try (Region builds = Region.allocate(bytes);
                Region probes = Region.allocate(bytes)) {
            driver.copyToHost(builds.address(), matches.buildPayloads(), bytes);
            driver.copyToHost(probes.address(), matches.probePayloads(), bytes);
            long[] pairs = new long[count];
            for (int i = 0; i < count; i++) {
                long offset = (long) wordBytes * i;
                int b = (int) Memory.getInteger(null, builds.address() + offset, wordBytes);
                int p = (int) Memory.getInteger(null, probes.address() + offset, wordBytes);
                if (build[b] != probe[p]) {
                    assertThat(build[b]).as("build %d, probe %d", b, p).isEqualTo(probe[p]);
                }
                if (isOrdered() && i > 0) {
                    int before = (int) (pairs[i - 1] >> Integer.SIZE);
                    assertThat(build[b])
                            .as("key of row %d", i)
                            .isGreaterThanOrEqualTo(build[before]);
                }
                pairs[i] = (long) b << Integer.SIZE | p;
            }
            Arrays.sort(pairs);
            for (int i = 1; i < count; i++) {
                if (pairs[i] == pairs[i - 1]) {
                    fail("Pair %d was found twice.", pairs[i]);
                }
            }
        }
    }
}
