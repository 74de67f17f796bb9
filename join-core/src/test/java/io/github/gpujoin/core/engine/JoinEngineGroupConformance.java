// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.engine.testing.NestedLoopJoin;
import io.github.gpujoin.core.engine.testing.RandomJoinData;
import io.github.gpujoin.core.engine.testing.RandomJoinData.BuildChunk;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.region.MemoryReservations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of filters and aggregations for every engine. */
abstract class JoinEngineGroupConformance extends JoinEngineStateConformance {

    /** Facts of a key and a value; a dimension of a key and a weight. */
    private static final ChunkSchema VALUED_FACTS =
            ChunkSchema.of(
                    Column.of("fact_key", ColumnType.INT32), Column.of("value", ColumnType.INT64));

    /**
     * Number of facts, a multiple of 4, that all have the same key; the number of results grows
     * with its square. Under a memory checker, which makes each access a hundred times slower, set
     * -Dgpujoin.conformance.one-key-rows=200.
     */
    static final int ONE_KEY_ROWS = Integer.getInteger("gpujoin.conformance.one-key-rows", 2_000);

    private static final DimensionSpec WEIGHTS =
            new DimensionSpec(
                    "weights",
                    ChunkSchema.of(
                            Column.of("key", ColumnType.INT64),
                            Column.of("weight", ColumnType.INT32)),
                    0,
                    0,
                    JoinKind.INNER);

    private static final JoinColumn KEY = JoinColumn.ofFact(0);
    private static final JoinColumn VALUE = JoinColumn.ofFact(1);
    private static final JoinColumn WEIGHT = new JoinColumn(0, 1);

    static LongStream filterSeeds() {
        return LongStream.range(3_000, 3_040);
    }

    static LongStream groupSeeds() {
        return LongStream.range(4_000, 4_040);
    }

    static LongStream largeGroupSeeds() {
        return LongStream.range(5_000, 5_006);
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("filterSeeds")
    void shouldJoinOnlyFactsThatPassAllFilters(long seed) {
        RandomJoinData data = RandomJoinData.small(seed, kinds()).withFilters(seed);
        NestedLoopJoin definition = new NestedLoopJoin(data.spec(), data.builds());
        assertThat(EngineRun.join(factory(), data.spec(), data.builds(), data.probes()))
                .isEqualTo(data.probes().stream().map(definition::join).toList());
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("groupSeeds")
    void shouldAggregateByDefinition(long seed) {
        RandomJoinData data = RandomJoinData.small(seed, kinds()).aggregated(seed);
        NestedLoopJoin definition = new NestedLoopJoin(data.spec(), data.builds());
        assertThat(EngineRun.aggregate(factory(), data.spec(), data.builds(), data.probes()))
                .isEqualTo(definition.aggregate(data.probes()));
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("largeGroupSeeds")
    void shouldFilterAndAggregateAsTheReferenceEngine(long seed) {
        RandomJoinData rows = RandomJoinData.large(seed, kinds()).withFilters(seed);
        assertThat(EngineRun.join(factory(), rows.spec(), rows.builds(), rows.probes()))
                .isEqualTo(
                        EngineRun.join(
                                new ReferenceJoinEngineFactory(),
                                rows.spec(),
                                rows.builds(),
                                rows.probes()));
        RandomJoinData sums = RandomJoinData.large(seed, kinds()).aggregated(seed);
        assertThat(EngineRun.aggregate(factory(), sums.spec(), sums.builds(), sums.probes()))
                .isEqualTo(
                        EngineRun.aggregate(
                                new ReferenceJoinEngineFactory(),
                                sums.spec(),
                                sums.builds(),
                                sums.probes()));
    }

    static LongStream textSeeds() {
        return LongStream.range(6_000, 6_020);
    }

    private static JoinSpec grouped(int maxGroups, JoinColumn... groups) {
        List<Aggregate> aggregates =
                List.of(
                        Aggregate.count(),
                        Aggregate.sum(VALUE),
                        Aggregate.sumOfProduct(VALUE, WEIGHT));
        return new JoinSpec(
                VALUED_FACTS,
                List.of(WEIGHTS),
                List.of(),
                new Aggregation(List.of(groups), aggregates, maxGroups));
    }

    private static Chunk valued(int from, int to) {
        return TestChunks.of(
                VALUED_FACTS,
                IntStream.range(from, to)
                        .mapToObj(i -> new Object[] {i % 3, (long) i})
                        .toArray(Object[][]::new));
    }

    private static BuildChunk weights(Object[]... rows) {
        return new BuildChunk(0, TestChunks.of(WEIGHTS.schema(), 0, List.of(rows)));
    }

    private JoinEngine weighing(JoinSpec spec) {
        return EngineRun.loaded(
                factory(), spec, List.of(weights(new Object[] {0L, 5}, new Object[] {1L, -7})));
    }

    @ParameterizedTest(name = "maxGroups={0}")
    @ValueSource(ints = {1, 1_000, Aggregation.DEFAULT_MAX_GROUPS})
    void shouldReturnAllGroupsWhateverTheirNumber(int maxGroups) {
        int facts = 200_000;
        try (JoinEngine engine = weighing(grouped(maxGroups, VALUE))) {
            EngineRun run = new EngineRun(engine);
            for (int from = 0; from < facts; from += facts / 8) {
                run.submit(valued(from, from + facts / 8), 0);
            }
            run.drain();
            run.drainGroups();
            Map<List<Long>, List<Long>> expected = new HashMap<>();
            for (long i = 0; i < facts; i++) {
                if (i % 3 < 2) {
                    expected.put(List.of(i), List.of(1L, i, i * (i % 3 == 0 ? 5 : -7)));
                }
            }
            assertThat(run.groups()).isEqualTo(expected);
            // An engine on several devices holds as many groups on each.
            if (maxGroups < Aggregation.DEFAULT_MAX_GROUPS) {
                assertThat(run.takes()).as("the table is bounded").isGreaterThan(1);
            }
            assertThat(engine.stats().resultRows()).isEqualTo(expected.size());
            assertThat(engine.stats().probeRows()).isEqualTo(facts);
        }
    }

    @Test
    void shouldReturnOneGroupWithoutGroupColumnsAndNoneWithoutRows() {
        try (JoinEngine engine = weighing(grouped(100))) {
            EngineRun run = new EngineRun(engine);
            run.drainGroups();
            assertThat(run.groups()).isEmpty();
            run.submit(TestChunks.of(VALUED_FACTS, new Object[] {2, 1L}), 0);
            run.drain();
            run.drainGroups();
            assertThat(run.groups()).as("a fact without a match").isEmpty();
            run.submit(valued(0, 4), 1);
            run.drain();
            run.drainGroups();
            assertThat(run.groups())
                    .as("facts 1 and 3: the first is not asked for, 2 has no match")
                    .isEqualTo(Map.of(List.of(), List.of(2L, 4L, -7L + 15)));
            run.drainGroups();
            assertThat(run.groups()).as("groups start anew").hasSize(1);
        }
    }

    @Test
    void shouldTellGroupsApartByAllColumnsAndWrapAroundBeyond64Bits() {
        JoinSpec spec = grouped(100, KEY, VALUE, WEIGHT, new JoinColumn(0, 0));
        long[] values = {Long.MAX_VALUE, Long.MIN_VALUE, 1L << 32, 1L, Long.MAX_VALUE};
        List<Object[]> facts = new ArrayList<>();
        for (long value : values) {
            facts.add(new Object[] {1, value});
            facts.add(new Object[] {0, value});
        }
        List<Chunk> probes = List.of(TestChunks.of(VALUED_FACTS, -1, facts));
        List<BuildChunk> builds =
                List.of(weights(new Object[] {0L, 3}, new Object[] {1L, 3}, new Object[] {1L, 4}));
        Map<List<Long>, List<Long>> groups = EngineRun.aggregate(factory(), spec, builds, probes);
        assertThat(groups)
                .hasSize(4 * 3)
                .containsEntry(
                        List.of(1L, Long.MAX_VALUE, 4L, 1L),
                        List.of(2L, 2 * Long.MAX_VALUE, 8 * Long.MAX_VALUE))
                .isEqualTo(new NestedLoopJoin(spec, builds).aggregate(probes));
    }

    /** Two dimensions of a key, a text and a weight, joined by the key and the value of facts. */
    private static JoinSpec groupedByTexts(int maxGroups) {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("key", ColumnType.INT64),
                        Column.nullable("text", ColumnType.STRING),
                        Column.of("weight", ColumnType.INT32));
        return new JoinSpec(
                VALUED_FACTS,
                List.of(
                        new DimensionSpec("sellers", schema, 0, 0, JoinKind.INNER),
                        new DimensionSpec("buyers", schema, 0, 1, JoinKind.INNER)),
                List.of(),
                new Aggregation(
                        List.of(new JoinColumn(0, 1), KEY, new JoinColumn(1, 1)),
                        List.of(Aggregate.count(), Aggregate.sum(new JoinColumn(0, 2))),
                        maxGroups));
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("textSeeds")
    void shouldAggregateByCodesOfTextsByDefinition(long seed) {
        Random random = new Random(seed);
        String[] texts = {null, "", "x", "K\u00f6ln", "K\u00d6LN", "\ud83d\ude80 ".repeat(20)};
        JoinSpec spec = groupedByTexts(1 + random.nextInt(100));
        List<List<Object[]>> dimensions = new ArrayList<>();
        List<BuildChunk> builds = new ArrayList<>();
        GroupCodes codes = new GroupCodes(spec, MemoryReservations.unlimited());
        for (int d = 0; d < 2; d++) {
            List<Object[]> rows = new ArrayList<>();
            for (long i = random.nextInt(60); i >= 0; i--) {
                String text = texts[random.nextInt(texts.length)];
                rows.add(new Object[] {(long) random.nextInt(20), text, random.nextInt()});
            }
            dimensions.add(rows);
            Chunk chunk = TestChunks.of(spec.dimensions().get(d).schema(), d, rows);
            builds.add(new BuildChunk(d, codes.encode(chunk)));
        }
        List<Object[]> facts = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            facts.add(new Object[] {random.nextInt(22), (long) random.nextInt(22)});
        }
        Map<List<Long>, List<Long>> groups =
                EngineRun.aggregate(
                        factory(),
                        codes.spec(),
                        builds,
                        List.of(TestChunks.of(VALUED_FACTS, -1, facts)));
        Map<List<Object>, List<Long>> decoded = new HashMap<>();
        groups.forEach((group, sums) -> decoded.put(texts(codes, group), sums));
        assertThat(decoded).isEqualTo(groupsByTexts(facts, dimensions));
    }

    private static List<Object> texts(GroupCodes codes, List<Long> group) {
        long[] values = {group.get(0), group.get(1), group.get(2), 0, 0};
        GroupRows rows = codes.decode(new GroupRows(codes.spec().aggregation(), values));
        return Arrays.asList(rows.groupText(0, 0), group.get(1), rows.groupText(0, 2));
    }

    private static Map<List<Object>, List<Long>> groupsByTexts(
            List<Object[]> facts, List<List<Object[]>> dimensions) {
        Map<List<Object>, List<Long>> groups = new HashMap<>();
        for (Object[] fact : facts) {
            long key = (Integer) fact[0];
            for (Object[] seller : dimensions.get(0)) {
                for (Object[] buyer : dimensions.get(1)) {
                    if (seller[0].equals(key) && buyer[0].equals(fact[1])) {
                        groups.merge(
                                Arrays.asList(seller[1], key, buyer[1]),
                                List.of(1L, (long) (Integer) seller[2]),
                                NestedLoopJoin::sums);
                    }
                }
            }
        }
        return groups;
    }

    @Test
    void shouldRejectTextsThatNoCodesReplace() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EngineRun.loaded(factory(), groupedByTexts(10), List.of()))
                .withMessageContaining("Engine groups by text");
    }

    @Test
    void shouldAggregateAllMatchesIfAllRowsHaveTheSameKey() {
        int matches = 3 * ONE_KEY_ROWS / 2;
        Object[][] rows =
                IntStream.range(0, matches)
                        .mapToObj(i -> new Object[] {9L, i})
                        .toArray(Object[][]::new);
        Object[][] facts =
                Collections.nCopies(ONE_KEY_ROWS, new Object[] {9, 2L}).toArray(Object[][]::new);
        Map<List<Long>, List<Long>> groups =
                EngineRun.aggregate(
                        factory(),
                        grouped(100, KEY),
                        List.of(weights(rows)),
                        List.of(TestChunks.of(VALUED_FACTS, facts)));
        long count = (long) ONE_KEY_ROWS * matches;
        assertThat(groups)
                .isEqualTo(Map.of(List.of(9L), List.of(count, 2 * count, count * (matches - 1))));
    }

    @Test
    void shouldRejectReadingGroupsWhileInFlightOrWithoutGroups() {
        try (JoinEngine engine = weighing(grouped(100, KEY))) {
            engine.submitProbe(valued(0, 10), 0);
            assertThatIllegalStateException()
                    .isThrownBy(engine::drainGroups)
                    .withMessageContaining("inFlight=1");
            EngineRun run = new EngineRun(engine);
            run.track(new InFlightProbe(engine.snapshot().get(0).chunk(), 0));
            run.drain();
            assertThat(engine.drainGroups().rowCount()).isEqualTo(2);
            engine.close();
            assertThatIllegalStateException().isThrownBy(engine::drainGroups);
        }
        try (JoinEngine engine = factory().create(SPEC)) {
            assertThatIllegalStateException().isThrownBy(engine::drainGroups);
            engine.finishBuild();
            assertThat(engine.awaitsDrain()).isFalse();
            assertThatIllegalStateException()
                    .isThrownBy(engine::drainGroups)
                    .withMessageContaining("aggregates=false");
        }
    }
}
