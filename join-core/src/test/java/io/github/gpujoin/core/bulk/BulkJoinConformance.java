// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.testing.BulkAnswer;
import io.github.gpujoin.core.bulk.testing.BulkRun;
import io.github.gpujoin.core.bulk.testing.CollidingKeys;
import io.github.gpujoin.core.bulk.testing.KeyShape;
import io.github.gpujoin.core.bulk.testing.NestedLoopBulkJoin;
import io.github.gpujoin.core.bulk.testing.RandomBulkData;
import io.github.gpujoin.core.bulk.testing.RandomBulkData.Output;
import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceBulkJoin;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The tests of the answers of every bulk join. Small data is compared with the definition of the
 * join, larger data with the reference.
 */
public abstract class BulkJoinConformance extends BulkJoinStateConformance {

    private static final int SEEDS = 8;

    /** Returns the first seed of small data. */
    protected long firstSeed() {
        return 0;
    }

    /** Returns the number of seeds of small data. */
    protected int seeds() {
        return SEEDS;
    }

    static Stream<Arguments> joins() {
        return Arrays.stream(BulkJoinKind.values())
                .flatMap(
                        kind ->
                                Arrays.stream(KeyShape.values())
                                        .flatMap(
                                                keys ->
                                                        Arrays.stream(Output.values())
                                                                .map(
                                                                        output ->
                                                                                Arguments.of(
                                                                                        kind, keys,
                                                                                        output))));
    }

    @ParameterizedTest(name = "{0}, keys {1}, {2}")
    @MethodSource("joins")
    void shouldJoinByDefinition(BulkJoinKind kind, KeyShape keys, Output output) throws Exception {
        for (long seed = firstSeed(); seed < firstSeed() + seeds(); seed++) {
            RandomBulkData data = RandomBulkData.small(seed, kind, keys, output);
            assertThat(answer(data, seed))
                    .as("seed=%d, spec=%s", seed, data.spec())
                    .isEqualTo(NestedLoopBulkJoin.join(data.spec(), data.left(), data.right()));
        }
    }

    static Stream<Arguments> largeJoins() {
        return joins().filter(arguments -> arguments.get()[2] != Output.COUNT);
    }

    @ParameterizedTest(name = "{0}, keys {1}, {2}")
    @MethodSource("largeJoins")
    void shouldJoinAsTheReference(BulkJoinKind kind, KeyShape keys, Output output)
            throws Exception {
        long seed = 1_000L * kind.ordinal() + 10 * keys.ordinal() + output.ordinal();
        RandomBulkData data = RandomBulkData.large(seed, kind, keys, output);
        BulkAnswer expected;
        try (BulkJoin reference = new ReferenceBulkJoin(data.spec())) {
            expected = BulkRun.join(reference, data.left(), data.right(), seed);
        }
        assertThat(answer(data, seed)).as("seed=%d", seed).isEqualTo(expected);
    }

    private BulkAnswer answer(RandomBulkData data, long seed) throws InterruptedException {
        try (BulkJoin join = create(data.spec())) {
            return BulkRun.join(join, data.left(), data.right(), seed);
        }
    }

    private void assertJoinsByDefinition(BulkJoinSpec spec, List<Chunk> left, List<Chunk> right)
            throws InterruptedException {
        assertThat(answer(new RandomBulkData(spec, left, right), 0))
                .as("spec=%s", spec)
                .isEqualTo(NestedLoopBulkJoin.join(spec, left, right));
    }

    @ParameterizedTest
    @EnumSource(BulkJoinKind.class)
    void shouldCompareKeysOfEqualHashes(BulkJoinKind kind) throws Exception {
        BulkInput left = CollidingKeys.input("l");
        BulkInput right = CollidingKeys.input("r");
        List<Integer> rightColumns = kind.returns(JoinSide.RIGHT) ? List.of(2, 1) : List.of();
        Random random = new Random(kind.ordinal());
        // few pairs have the same key; many rows collide and have no match
        for (int[] firsts : new int[][] {{4, 4}, {300, 40}}) {
            List<Chunk> lefts = CollidingKeys.chunks(left, random, 900, firsts[0], 3);
            List<Chunk> rights = CollidingKeys.chunks(right, random, 250, firsts[1], 3);
            for (BulkOutput output :
                    List.of(
                            new BulkOutput.Count(),
                            new BulkOutput.Rows(List.of(0, 1, 2), rightColumns))) {
                BulkJoinSpec spec = new BulkJoinSpec(left, right, kind, false, output);
                assertThat(words(spec, JoinSide.LEFT, lefts)).hasSize(3);
                assertThat(words(spec, JoinSide.RIGHT, rights)).hasSize(3);
                assertJoinsByDefinition(spec, lefts, rights);
                assertJoinsByDefinition(
                        spec,
                        CollidingKeys.chunks(left, random, 60, firsts[0], 3),
                        CollidingKeys.chunks(right, random, 700, firsts[1], 3));
            }
        }
    }

    /** Returns the distinct words of an input. */
    private static Set<Long> words(BulkJoinSpec spec, JoinSide side, List<Chunk> chunks) {
        BulkKeyEncoder encoder = new BulkKeyEncoder(spec, side, 100);
        Set<Long> words = new HashSet<>();
        for (Chunk chunk : chunks) {
            encoder.encode(chunk, 0, chunk.rowCount());
            Arrays.stream(encoder.words(), 0, chunk.rowCount()).forEach(words::add);
        }
        return words;
    }

    static Stream<Arguments> keyTypes() {
        List<ColumnType> integers =
                Arrays.stream(ColumnType.values()).filter(ColumnType::isInteger).toList();
        return integers.stream()
                .flatMap(left -> integers.stream().map(right -> Arguments.of(left, right)));
    }

    @ParameterizedTest(name = "left key {0}, right key {1}")
    @MethodSource("keyTypes")
    void shouldDistinguishExtremeKeys(ColumnType leftKey, ColumnType rightKey) throws Exception {
        long[] extremes = {
            Long.MIN_VALUE,
            Integer.MIN_VALUE - 1L,
            Integer.MIN_VALUE,
            -(1L << 32) - 1,
            Short.MIN_VALUE,
            Byte.MIN_VALUE,
            -1,
            0,
            1,
            Byte.MAX_VALUE,
            Byte.MAX_VALUE + 1L,
            Short.MAX_VALUE + 1L,
            Integer.MAX_VALUE,
            1L << 32,
            (1L << 32) + 1,
            Long.MAX_VALUE
        };
        List<Object[]> rows =
                Arrays.stream(extremes).mapToObj(key -> new Object[] {key, key}).toList();
        for (boolean isComposite : new boolean[] {false, true}) {
            ChunkSchema left =
                    ChunkSchema.of(Column.of("a", leftKey), Column.of("b", ColumnType.INT32));
            ChunkSchema right =
                    ChunkSchema.of(Column.of("a", rightKey), Column.of("b", ColumnType.INT16));
            List<Integer> keys = isComposite ? List.of(0, 1) : List.of(0);
            BulkJoinSpec spec =
                    new BulkJoinSpec(
                            new BulkInput("l", left, keys),
                            new BulkInput("r", right, keys),
                            BulkJoinKind.FULL,
                            false,
                            new BulkOutput.Rows(List.of(0, 1), List.of(1, 0)));
            assertJoinsByDefinition(
                    spec,
                    List.of(TestChunks.of(left, ChunkDescriptor.FACTS, rows)),
                    List.of(TestChunks.of(right, ChunkDescriptor.FACTS, rows)));
        }
    }

    @ParameterizedTest
    @EnumSource(BulkJoinKind.class)
    void shouldJoinIfAllRowsHaveTheSameKey(BulkJoinKind kind) throws Exception {
        for (int[] sizes : new int[][] {{700, 40}, {40, 700}, {1, 3_000}}) {
            assertJoinsByDefinition(
                    tuples(kind, rows(kind)),
                    tupleChunks(sizes[0], row -> -7),
                    tupleChunks(sizes[1], row -> -7));
        }
    }

    @ParameterizedTest
    @EnumSource(BulkJoinKind.class)
    void shouldJoinEmptyInputs(BulkJoinKind kind) throws Exception {
        List<Chunk> some = tupleChunks(20, row -> row % 5);
        for (BulkOutput output : List.of(new BulkOutput.Count(), rows(kind))) {
            for (List<Chunk> empty : List.of(List.<Chunk>of(), tupleChunks(0, row -> 0))) {
                assertJoinsByDefinition(tuples(kind, output), some, empty);
                assertJoinsByDefinition(tuples(kind, output), empty, some);
                assertJoinsByDefinition(tuples(kind, output), empty, empty);
            }
        }
    }

    @Test
    void shouldReturnVariableWidthValuesByteForByte() throws Exception {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("text", ColumnType.STRING),
                        Column.of("key", ColumnType.INT64),
                        Column.nullable("bytes", ColumnType.BYTES),
                        Column.nullable("number", ColumnType.FLOAT64));
        List<Chunk> chunks =
                List.of(
                        TestChunks.of(
                                schema,
                                new Object[] {"", 1L, null, null},
                                new Object[] {"Zürich 𝄞", 2L, new byte[] {0, -1, '\n'}, -0.0},
                                new Object[] {"x".repeat(200_000), 3L, new byte[0], Math.PI}));
        for (List<Integer> key : List.of(List.of(1), List.of(0), List.of(2, 0))) {
            BulkJoinSpec spec =
                    new BulkJoinSpec(
                            new BulkInput("l", schema, key),
                            new BulkInput("r", schema, key),
                            BulkJoinKind.LEFT,
                            true,
                            new BulkOutput.Rows(List.of(3, 0, 1), List.of(2, 1, 0, 3)));
            assertJoinsByDefinition(spec, chunks, chunks);
        }
    }

    @Test
    void shouldReadChunksOnlyWhileTheyAreSubmitted() throws Exception {
        BulkJoinSpec spec = tuples(BulkJoinKind.INNER, rows(BulkJoinKind.INNER));
        List<Chunk> kept = tupleChunks(4_000, row -> row);
        BulkAnswer answer = new BulkAnswer();
        try (BulkJoin join = create(spec)) {
            ChunkBuilder reused = new ChunkBuilder(TUPLES, 100 * 16);
            for (Chunk chunk : kept) {
                join.submit(JoinSide.RIGHT, chunk);
                for (int row = 0; row < chunk.rowCount(); row++) {
                    reused.addRow(chunk, row);
                    if (reused.isFull()) {
                        join.submit(JoinSide.LEFT, reused.sealTransient(-1, -1, 0, 0));
                    }
                }
            }
            join.finish();
            join.drain(result -> answer.add(spec, result));
        }
        assertThat(answer).isEqualTo(NestedLoopBulkJoin.join(spec, kept, kept));
    }

    @Test
    void shouldJoinEncodedChunks() throws Exception {
        List<Chunk> left = tupleChunks(5_000, row -> row / 3);
        List<Chunk> encoded = new ArrayList<>();
        ChunkEncoder encoder = new ChunkEncoder();
        for (Chunk chunk : left) {
            encoded.add(ChunkDecoder.open(TUPLES, encoder.encode(chunk)));
        }
        BulkJoinSpec spec = tuples(BulkJoinKind.FULL, rows(BulkJoinKind.FULL));
        List<Chunk> right = tupleChunks(500, row -> 2L * row);
        assertThat(answer(new RandomBulkData(spec, encoded, right), 0))
                .isEqualTo(NestedLoopBulkJoin.join(spec, left, right));
    }

    @Test
    void shouldReturnManyMoreResultsThanRows() throws Exception {
        BulkJoinSpec spec = tuples(BulkJoinKind.INNER, rows(BulkJoinKind.INNER));
        long[] totals = new long[2];
        try (BulkJoin join = create(spec)) {
            BulkRun.submit(join, tupleChunks(1_500, row -> 1), tupleChunks(1_000, row -> 1), 0);
            join.finish();
            join.drain(
                    result -> {
                        Chunk chunk = ((BulkResult.Rows) result).chunk();
                        totals[0] += chunk.rowCount();
                        for (int row = 0; row < chunk.rowCount(); row++) {
                            totals[1] += chunk.getLong(1, row) + 7 * chunk.getLong(3, row);
                        }
                    });
            assertThat(join.stats().resultRows()).isEqualTo(1_500_000);
        }
        long expected =
                1_000 * IntStream.range(0, 1_500).asLongStream().sum()
                        + 7 * 1_500 * IntStream.range(0, 1_000).asLongStream().sum();
        assertThat(totals).containsExactly(1_500_000, expected);
    }
}
