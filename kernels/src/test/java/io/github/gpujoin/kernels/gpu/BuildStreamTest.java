// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Contents of device memory after loading; needs no device. */
@ExtendWith(RegionLeakExtension.class)
class BuildStreamTest {

    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(1);
    private static final DimensionSpec FIXED = side(ColumnType.INT32, ColumnType.INT64);
    private static final DimensionSpec NARROW = side(ColumnType.INT8, ColumnType.INT16);

    private final RefusingDriver driver = new RefusingDriver();
    private DeviceLease lease;

    @BeforeEach
    void openDevice() {
        lease = new DeviceLease(driver, GpuOptions.defaults());
    }

    @AfterEach
    void shouldHaveFreedAllDeviceMemory() {
        lease.release();
        assertThat(driver.deviceBytes() + driver.pinnedBytes()).isZero();
    }

    /**
     * Key of the first type, payload of the second, and a variable-width text where it is STRING.
     */
    private static DimensionSpec side(ColumnType key, ColumnType payload) {
        Column value = Column.of("value", payload);
        ChunkSchema schema =
                ChunkSchema.of(
                        value,
                        Column.of("key", key),
                        Column.of("other", ColumnType.INT64),
                        Column.of("narrow", ColumnType.INT32));
        return new DimensionSpec("d", schema, 1, 0, JoinKind.INNER);
    }

    private BuildStream stream(DimensionSpec side) {
        return stream(side, lease);
    }

    private static BuildStream stream(DimensionSpec side, DeviceLease lease) {
        return new BuildStream(
                DeviceGroup.of(lease),
                MemoryLimits.of(MemoryBudget.byMachine()),
                new BuildRowLayout(side),
                TIMEOUT_NS);
    }

    private static void close(BuildStream stream) {
        stream.freeRuns();
        stream.close();
    }

    private static Object[] row(Random random, ChunkSchema schema) {
        Object[] row = new Object[schema.size()];
        for (int c = 0; c < row.length; c++) {
            row[c] =
                    switch (schema.column(c).type()) {
                        case INT8 -> (byte) random.nextInt();
                        case INT16 -> (short) random.nextInt();
                        case INT32 -> random.nextInt();
                        case INT64 -> random.nextLong();
                        default -> "text " + random.nextInt();
                    };
        }
        return row;
    }

    private static List<Object[]> appendChunks(
            BuildStream stream, ChunkSchema schema, Random random, int rows) {
        List<Object[]> all = new ArrayList<>();
        while (all.size() < rows) {
            List<Object[]> chunk = new ArrayList<>();
            int count = random.nextInt(30_000);
            for (int i = 0; i < count; i++) {
                chunk.add(row(random, schema));
            }
            stream.append(TestChunks.of(schema, 0, chunk));
            all.addAll(chunk);
        }
        return all;
    }

    /** Returns a value of a fixed-width column as the device stores it. */
    private static long deviceValue(BuildStream stream, int column, int row) {
        BuildRunLayout layout = stream.runLayout();
        long run = stream.runs(0).get(row / layout.runRows());
        int width = layout.widthBytes(column);
        long at = run + layout.offset(column) + (long) width * (row % layout.runRows());
        return Memory.getInteger(null, at, width);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldCopyEveryColumnToTheDevice(long seed) {
        DimensionSpec side = seed % 2 == 0 ? NARROW : FIXED;
        BuildStream stream = stream(side);
        try {
            Random random = new Random(seed);
            int rows = 22 * stream.runLayout().runRows() + random.nextInt(5000);
            List<Object[]> expected = appendChunks(stream, side.schema(), random, rows);
            stream.flush();
            assertThat(stream.rowCount()).isEqualTo(expected.size());
            for (int row = 0; row < expected.size(); row++) {
                for (int c = 0; c < stream.runLayout().chunkColumnCount(); c++) {
                    Number value = (Number) expected.get(row)[stream.runLayout().chunkColumn(c)];
                    if (deviceValue(stream, c, row) != value.longValue()) {
                        assertThat(deviceValue(stream, c, row))
                                .as("row %d, column %d", row, c)
                                .isEqualTo(value.longValue());
                    }
                }
            }
        } finally {
            close(stream);
        }
    }

    @Test
    void shouldReferToVariableWidthBytesOnTheHost() {
        DimensionSpec side = side(ColumnType.INT64, ColumnType.STRING);
        BuildStream stream = stream(side);
        try {
            Random random = new Random(7);
            int rows = stream.runLayout().runRows() + 10;
            List<Object[]> expected = appendChunks(stream, side.schema(), random, rows);
            stream.flush();
            int refs = stream.runLayout().variableWidthOffset();
            for (int row = 0; row < expected.size(); row += 997) {
                long run = stream.runs(0).get(row / stream.runLayout().runRows());
                long ref = Memory.getLong(run + refs + 8L * (row % stream.runLayout().runRows()));
                Chunk alone = TestChunks.of(side.schema(), 0, List.<Object[]>of(expected.get(row)));
                long start = alone.variableWidthStart(0);
                int length = (int) (alone.variableWidthEnd(0) - start);
                assertThat(Memory.getInt(ref)).isEqualTo(length);
                assertThat(Memory.equal(null, ref + 4, alone.array(), start, length)).isTrue();
            }
        } finally {
            close(stream);
        }
    }

    @Test
    void shouldHoldFewRunsOnTheHostForAnyNumberOfRows() {
        BuildStream stream = stream(FIXED);
        long pinnedBefore = driver.pinnedBytes();
        try {
            int runRows = stream.runLayout().runRows();
            Chunk chunk =
                    TestChunks.of(
                            FIXED.schema(),
                            0,
                            java.util.stream.IntStream.range(0, runRows / 4)
                                    .mapToObj(i -> new Object[] {0L, i, 0L, 0})
                                    .toList());
            for (int i = 0; i < 4 * 40; i++) {
                stream.append(chunk);
            }
            assertThat(stream.runs(0)).hasSize(40);
            assertThat(driver.pinnedBytes() - pinnedBefore)
                    .isEqualTo(10L * stream.runLayout().lengthBytes());
            assertThat(lease.memory().use().deviceBytes())
                    .as("at most doubled")
                    .isLessThan(90L * stream.runLayout().lengthBytes());
        } finally {
            close(stream);
        }
    }

    /**
     * Returns a driver whose allocations adjoin. As with a real one, no copy may cross from one to
     * another.
     */
    private CudaDriver adjoiningAllocations(long arenaBytes) {
        long arena = driver.allocateDevice(arenaBytes);
        NavigableMap<Long, Long> lengths = new TreeMap<>();
        long[] usedBytes = {0};
        return (CudaDriver)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {CudaDriver.class},
                        (proxy, method, arguments) -> {
                            switch (method.getName()) {
                                case "allocateDevice" -> {
                                    long address = arena + usedBytes[0];
                                    usedBytes[0] += (long) arguments[0];
                                    lengths.put(address, (long) arguments[0]);
                                    return address;
                                }
                                case "freeDevice" -> {
                                    return null;
                                }
                                case "startCopyToDevice" -> {
                                    Map.Entry<Long, Long> target =
                                            lengths.floorEntry((long) arguments[0]);
                                    assertThat((long) arguments[0] + (long) arguments[2])
                                            .isLessThanOrEqualTo(
                                                    target.getKey() + target.getValue());
                                }
                                case "close" -> driver.freeDevice(arena);
                                default -> {}
                            }
                            return method.invoke(driver, arguments);
                        });
    }

    @Test
    void shouldNotCopyAcrossAllocationsThatAdjoin() {
        DeviceLease adjoining =
                new DeviceLease(adjoiningAllocations(128L << 20), GpuOptions.defaults());
        BuildStream stream = stream(FIXED, adjoining);
        try {
            Random random = new Random(8);
            appendChunks(stream, FIXED.schema(), random, 50 * stream.runLayout().runRows());
            stream.flush();
            List<Long> runs = stream.runs(0);
            assertThat(runs.get(runs.size() - 1) - runs.get(0))
                    .as("all runs adjoin")
                    .isEqualTo((runs.size() - 1L) * stream.runLayout().lengthBytes());
        } finally {
            close(stream);
            adjoining.release();
        }
    }

    @Test
    void shouldAllocateNothingWithoutRows() {
        BuildStream stream = stream(FIXED);
        int allocations = driver.allocations();
        stream.append(TestChunks.of(FIXED.schema(), 0, List.of()));
        stream.flush();
        close(stream);
        assertThat(driver.allocations()).isEqualTo(allocations);
    }
}
