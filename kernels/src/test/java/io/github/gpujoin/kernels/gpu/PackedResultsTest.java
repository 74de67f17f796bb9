// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.FactFilter;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.engine.testing.RandomJoinData.BuildChunk;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which joins are packed and how, and their answers on a device emulated by the CPU. */
@ExtendWith(RegionLeakExtension.class)
class PackedResultsTest {

    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("value", ColumnType.INT32),
                    Column.of("null_keys", ColumnType.INT32));
    private static final int KEYS = 3000;

    private static DimensionSpec dimension(JoinKind kind, Column... payloads) {
        List<Column> columns = new ArrayList<>(List.of(Column.of("key", ColumnType.INT64)));
        columns.addAll(List.of(payloads));
        return new DimensionSpec("d", ChunkSchema.of(columns), 0, 0, kind);
    }

    private static GpuTable table(DimensionSpec side, TableKind kind, PayloadRange... ranges) {
        GpuTable table =
                new GpuTable(
                        kind,
                        new BuildRowLayout(side),
                        1,
                        0,
                        0,
                        false,
                        GpuTable.Shards.NONE,
                        List.of());
        return ranges.length == 0 ? table : table.withUniqueKeys(List.of(ranges));
    }

    private static PackedResults packed(DimensionSpec side, PayloadRange... ranges) {
        JoinSpec spec = new JoinSpec(FACTS, List.of(side));
        RefusingDriver driver = new RefusingDriver();
        DeviceLease lease = new DeviceLease(driver, GpuOptions.defaults());
        try (Buffers buffers = lease.memory().buffers(MemoryBudget.byMachine())) {
            GpuTable table = table(side, TableKind.UNIQUE, ranges);
            return new PackedResults(spec, List.of(table), 64, 64, buffers);
        } finally {
            lease.release();
        }
    }

    @ParameterizedTest(name = "{0} in {1} to {2}: {3} bits")
    @CsvSource({
        "INT64, 0, 0, 0",
        "INT64, -1, 0, 1",
        "INT64, -1000, 1000, 11",
        "INT64, 0, 1048575, 20",
        "INT64, 0, 72057594037927935, 56",
        "INT64, 0, 72057594037927936, 64",
        "INT64, -9223372036854775808, 9223372036854775807, 64",
        "INT32, 0, 33554431, 25",
        "INT32, 0, 33554432, 32",
        "INT32, 0, 268435456, 32"
    })
    void shouldWriteWholeValuesUnlessAnEighthIsSaved(
            ColumnType type, long least, long greatest, int bits) {
        DimensionSpec side = dimension(JoinKind.INNER, Column.of("p", type));
        ResultColumn column = packed(side, new PayloadRange(least, greatest)).column(0, 0);
        assertThat(column.bits()).isEqualTo(bits);
        boolean isWhole = bits == 8 * type.widthBytes();
        assertThat(column.isPacked()).isNotEqualTo(isWhole);
        assertThat(column.base()).isEqualTo(isWhole ? 0 : least);
    }

    @ParameterizedTest(name = "{0} bits: {1}")
    @CsvSource({"6, 6", "7, 8", "9, 9", "12, 12", "13, 16", "25, 25", "26, 32", "31, 32", "33, 33"})
    void shouldRoundCodesUpToWholeBytesThatAreAQuarterMoreAtMost(int needed, int bits) {
        DimensionSpec side = dimension(JoinKind.INNER, Column.of("p", ColumnType.INT64));
        PayloadRange range = new PayloadRange(5, 5 + (1L << needed) - 1);
        assertThat(packed(side, range).column(0, 0).bits()).isEqualTo(bits);
    }

    @ParameterizedTest(name = "{0} in {1} to {2}: {3} bits from {4} on")
    @CsvSource({
        "INT8, -3, 4, 3, -3",
        "INT8, -128, 127, 8, -128",
        "INT16, 0, 2047, 11, 0",
        "INT16, 0, 32767, 16, 0",
        "INT16, -9223372036854775808, 9223372036854775807, 16, -32768"
    })
    void shouldAlwaysPackNarrowValues(
            ColumnType type, long least, long greatest, int bits, long base) {
        DimensionSpec side = dimension(JoinKind.INNER, Column.of("p", type));
        ResultColumn column = packed(side, new PayloadRange(least, greatest)).column(0, 0);
        assertThat(column.isPacked()).isTrue();
        assertThat(column.bits()).isEqualTo(bits);
        assertThat(column.base()).isEqualTo(base);
    }

    @Test
    void shouldEncodeTheZeroOfAMissingMatch() {
        DimensionSpec side = dimension(JoinKind.LEFT, Column.of("p", ColumnType.INT64));
        ResultColumn column = packed(side, new PayloadRange(1000, 1001)).column(0, 0);
        assertThat(column.base()).isZero();
        assertThat(column.bits()).isEqualTo(10);
    }

    @Test
    void shouldCountABitAFactAndTheBitsOfItsPayload() {
        DimensionSpec side =
                dimension(
                        JoinKind.INNER,
                        Column.of("a", ColumnType.INT64),
                        Column.of("b", ColumnType.INT32));
        PackedResults results =
                packed(side, new PayloadRange(0, (1 << 20) - 1), PayloadRange.UNKNOWN);
        assertThat(results.resultBytes()).isEqualTo(1 / 8.0 + 20 / 8.0 + 4);
    }

    @ParameterizedTest
    @CsvSource({"GROUPED, INNER, false", "CHAINED, LEFT, false", "GROUPED, SEMI, true"})
    void shouldPackOnlyIfNoFactCanHaveTwoResults(TableKind kind, JoinKind join, boolean packs) {
        DimensionSpec side = dimension(join, Column.of("p", ColumnType.INT64));
        JoinSpec spec = new JoinSpec(FACTS, List.of(side));
        assertThat(PackedResults.supports(spec, List.of(table(side, kind)))).isEqualTo(packs);
        JoinSpec counted =
                new JoinSpec(
                        FACTS,
                        List.of(side),
                        List.of(),
                        new Aggregation(List.of(JoinColumn.ofFact(0)), List.of(Aggregate.count())));
        GpuTable unique = table(side, kind, PayloadRange.UNKNOWN);
        assertThat(PackedResults.supports(spec, List.of(unique))).isTrue();
        assertThat(PackedResults.supports(counted, List.of(unique))).isFalse();
    }

    @Test
    void shouldPackIfADimensionWithAWideRowIsEmpty() throws Exception {
        Column[] payloads = new Column[4];
        Arrays.setAll(payloads, i -> Column.of("p" + i, ColumnType.INT64));
        JoinSpec spec = new JoinSpec(FACTS, List.of(dimension(JoinKind.LEFT, payloads)));
        try (HostDevice device = HostDevice.open(GpuOptions.defaults());
                GpuJoinEngine engine = (GpuJoinEngine) device.create(spec)) {
            engine.finishBuild();
            assertThat(engine.tableKinds()).containsExactly(TableKind.GROUPED);
            EngineRun run = new EngineRun(engine);
            run.submit(facts(100, new Random(1)), 0);
            run.drain();
            assertThat(run.results().get(0)).hasSize(100);
        }
    }

    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void shouldJoinAsTheReferenceEngine(long seed) throws Exception {
        Random random = new Random(seed);
        int[] segmentRows = {1, 63, 1000, 4096, 5000, 9000};
        List<DimensionSpec> sides = new ArrayList<>();
        List<BuildChunk> builds = new ArrayList<>();
        for (int d = 0; d <= random.nextInt(3); d++) {
            List<Column> payloads =
                    Stream.of(
                                    Column.of("code", ColumnType.INT8),
                                    Column.of("date", ColumnType.INT16),
                                    Column.of("narrow", ColumnType.INT32),
                                    Column.of("wide", ColumnType.INT64),
                                    Column.of("constant", ColumnType.INT64),
                                    Column.nullable("text", ColumnType.STRING))
                            .filter(column -> random.nextInt(3) > 0)
                            .toList();
            DimensionSpec side =
                    dimension(
                            JoinKind.values()[random.nextInt(4)], payloads.toArray(Column[]::new));
            sides.add(side);
            builds.add(new BuildChunk(d, buildRows(side.schema(), d, random)));
        }
        List<FactFilter> filters =
                random.nextBoolean()
                        ? List.of(new FactFilter(1, ValueRanges.between(0, 70)))
                        : List.of();
        JoinSpec spec = new JoinSpec(FACTS, sides, filters, null, 2);
        int rows = segmentRows[random.nextInt(segmentRows.length)];
        List<Chunk> probes = List.of(facts(10_000, random), facts(0, random), facts(77, random));
        GpuOptions options =
                GpuOptions.defaults()
                        .withSlots(3, rows)
                        .withEncodeSegments(random.nextBoolean())
                        .withPackResults(true);
        try (HostDevice device = HostDevice.open(options)) {
            assertThat(EngineRun.join(device, spec, builds, probes))
                    .isEqualTo(
                            EngineRun.join(new ReferenceJoinEngineFactory(), spec, builds, probes));
        }
    }

    /** Rows of unique keys; the bits of each payload are random. */
    private static Chunk buildRows(ChunkSchema schema, int dimension, Random random) {
        int narrowBits = 1 + random.nextInt(32);
        int wideBits = 1 + random.nextInt(64);
        long base = random.nextLong() >> random.nextInt(64);
        int count = random.nextInt(4) == 0 ? KEYS : random.nextInt(KEYS);
        List<Object[]> rows =
                IntStream.range(0, count)
                        .mapToObj(
                                key ->
                                        Map.of(
                                                "key",
                                                (long) key,
                                                "code",
                                                random.nextInt() >>> 32 - Math.min(narrowBits, 9),
                                                "date",
                                                base + (random.nextInt() >>> 32 - narrowBits),
                                                "narrow",
                                                (int) base + (random.nextInt() >>> 32 - narrowBits),
                                                "wide",
                                                base + (random.nextLong() >>> 64 - wideBits),
                                                "constant",
                                                base,
                                                "text",
                                                "text " + key))
                        .map(row -> schema.columns().stream().map(c -> row.get(c.name())).toArray())
                        .toList();
        return TestChunks.of(schema, dimension, rows);
    }

    private static Chunk facts(int count, Random random) {
        boolean hasNulls = random.nextBoolean();
        return TestChunks.of(
                FACTS,
                IntStream.range(0, count)
                        .mapToObj(
                                i ->
                                        new Object[] {
                                            (long) random.nextInt(KEYS),
                                            random.nextInt(100),
                                            hasNulls ? random.nextInt(8) & random.nextInt(8) : 0
                                        })
                        .toArray(Object[][]::new));
    }
}
