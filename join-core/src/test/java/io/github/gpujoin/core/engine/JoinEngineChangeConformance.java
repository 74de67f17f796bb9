// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import static io.github.gpujoin.core.engine.testing.SmallStars.FACTS;
import static io.github.gpujoin.core.engine.testing.SmallStars.longFacts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.engine.testing.NestedLoopJoin;
import io.github.gpujoin.core.engine.testing.RandomJoinData.BuildChunk;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of changelog dimensions for every engine that supports them. */
abstract class JoinEngineChangeConformance extends JoinEngineSnapshotConformance {

    private static final List<ColumnType> INTEGERS =
            List.of(ColumnType.INT8, ColumnType.INT16, ColumnType.INT32, ColumnType.INT64);
    private static final ChunkSchema REGIONS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT32), Column.of("region", ColumnType.INT64));

    /** Whether the engine supports changelog dimensions; other factories reject such a join. */
    protected boolean appliesChanges() {
        return true;
    }

    /** Whether changelog dimensions may have keys with equal hashes; other engines reject them. */
    protected boolean separatesEqualHashes() {
        return true;
    }

    static LongStream changeSeeds() {
        return LongStream.range(5_000, 5_030);
    }

    private static ChunkSchema prices(ColumnType key) {
        return ChunkSchema.of(
                Column.of("price", ColumnType.INT32),
                Column.of("key", key),
                Column.of("change", ColumnType.INT32),
                Column.nullable("text", ColumnType.STRING),
                Column.of("stock", ColumnType.INT16),
                Column.of("rating", ColumnType.INT8));
    }

    /** A star of a changelog dimension and another dimension. */
    private static JoinSpec changingStar(ColumnType key, JoinKind prices, JoinKind regions) {
        return new JoinSpec(
                FACTS,
                List.of(
                        new DimensionSpec("prices", prices(key), 1, 0, prices, 2),
                        new DimensionSpec("regions", REGIONS, 0, 0, regions)));
    }

    private static JoinSpec changingStar(JoinKind prices, JoinKind regions) {
        return changingStar(ColumnType.INT64, prices, regions);
    }

    /** The expected rows of the changelog dimension. */
    private static final class Live {

        private final ChunkSchema schema;
        private final Map<Long, Object[]> rows = new HashMap<>();

        Live(JoinSpec spec) {
            this.schema = spec.dimensions().get(0).schema();
        }

        Chunk apply(List<Object[]> changes) {
            for (Object[] change : changes) {
                if ((int) change[2] == RowChange.UPSERT.code()) {
                    rows.put((long) change[1], change);
                } else {
                    rows.remove((long) change[1]);
                }
            }
            return TestChunks.of(schema, 0, changes);
        }

        BuildChunk chunk() {
            return new BuildChunk(0, TestChunks.of(schema, 0, List.copyOf(rows.values())));
        }
    }

    private static Object[] upsert(long key, int price, String text) {
        return new Object[] {price, key, RowChange.UPSERT.code(), text, -price, price >> 8};
    }

    private static Object[] delete(long key) {
        return delete(key, 0, null);
    }

    /** A deletion with values besides the key, as most changelogs contain them. */
    private static Object[] delete(long key, int price, String text) {
        return new Object[] {price, key, RowChange.DELETE.code(), text, -price, price >> 8};
    }

    private static List<Object[]> randomChanges(Random random, int count, int keys, long step) {
        List<Object[]> changes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long key = random.nextInt(keys) * step;
            String text = random.nextInt(4) == 0 ? null : "text " + random.nextInt();
            int price = random.nextInt();
            changes.add(
                    random.nextInt(3) == 0 ? delete(key, price, text) : upsert(key, price, text));
        }
        return changes;
    }

    private static Chunk regions() {
        return TestChunks.of(
                REGIONS,
                1,
                IntStream.range(0, 30).mapToObj(i -> new Object[] {i % 20 - 1, (long) i}).toList());
    }

    private static Chunk randomFacts(Random random, int keys, long step) {
        return longFacts(random.ints(200, -1, keys + 1).mapToLong(key -> key * step));
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("changeSeeds")
    void shouldJoinFactsWithTheRowsAtTheirSubmission(long seed) {
        assumeThat(appliesChanges()).isTrue();
        Random random = new Random(seed);
        List<JoinKind> kinds = List.copyOf(kinds());
        // In every other case, keys have equal lower halves; in the others, keys of any width.
        long step = seed % 2 == 0 ? 1 : 0x1_0000_0000L;
        ColumnType key = step == 1 ? INTEGERS.get((int) (seed / 2 % 4)) : ColumnType.INT64;
        // The first numbers of random generators with neighbouring seeds are alike.
        JoinSpec spec =
                changingStar(
                        key,
                        kinds.get((int) (seed % kinds.size())),
                        kinds.get((int) (seed / kinds.size() % kinds.size())));
        int keys = 1 + random.nextInt(100);
        Live live = new Live(spec);
        try (JoinEngine engine = factory().create(spec)) {
            engine.submitBuild(1, regions());
            for (int i = random.nextInt(4); i > 0; i--) {
                engine.submitBuild(0, live.apply(randomChanges(random, 60, keys, step)));
            }
            engine.finishBuild();
            for (int round = 0; round < 12; round++) {
                assertJoinsTheLiveRows(engine, live, randomFacts(random, keys, step));
                engine.submitBuild(
                        0, live.apply(randomChanges(random, random.nextInt(80), keys, step)));
            }
            assertJoinsTheLiveRows(engine, live, randomFacts(random, keys, step));
        }
    }

    private static void assertJoinsTheLiveRows(JoinEngine engine, Live live, Chunk facts) {
        NestedLoopJoin definition =
                new NestedLoopJoin(
                        engine.spec(), List.of(live.chunk(), new BuildChunk(1, regions())));
        EngineRun run = new EngineRun(engine);
        run.submit(facts, 0);
        run.drain();
        assertThat(run.results()).isEqualTo(List.of(definition.join(facts)));
    }

    private static final ChunkSchema HASHED =
            ChunkSchema.of(
                    Column.of("price", ColumnType.INT32),
                    Column.nullable("text", ColumnType.STRING),
                    Column.of("change", ColumnType.INT32),
                    Column.of("full_key", ColumnType.BYTES),
                    Column.of("hash", ColumnType.INT64));

    /** Facts match the rows of all keys with their hash; a change affects the row of its key. */
    @ParameterizedTest(name = "seed={0}")
    @MethodSource("changeSeeds")
    void shouldJoinFactsWithTheRowsOfAllKeysOfTheirHash(long seed) {
        assumeThat(appliesChanges()).isTrue();
        Random random = new Random(seed);
        JoinKind kind = seed % 2 == 0 ? JoinKind.INNER : JoinKind.LEFT;
        JoinSpec spec =
                new JoinSpec(
                        FACTS,
                        List.of(
                                new DimensionSpec("prices", HASHED, 4, 0, kind, 2, 3),
                                new DimensionSpec("regions", REGIONS, 0, 0, JoinKind.LEFT)));
        int keys = 1 + random.nextInt(150);
        int hashes = separatesEqualHashes() ? 1 + random.nextInt(keys) : keys;
        Map<Integer, Object[]> live = new HashMap<>();
        try (JoinEngine engine = factory().create(spec)) {
            engine.submitBuild(1, regions());
            engine.submitBuild(0, hashedChanges(random, keys, hashes, live));
            engine.finishBuild();
            for (int round = 0; round < 12; round++) {
                Chunk rows = TestChunks.of(HASHED, 0, List.copyOf(live.values()));
                Chunk facts = randomFacts(random, hashes, 1);
                NestedLoopJoin definition =
                        new NestedLoopJoin(
                                spec,
                                List.of(new BuildChunk(0, rows), new BuildChunk(1, regions())));
                EngineRun run = new EngineRun(engine);
                run.submit(facts, 0);
                run.drain();
                assertThat(run.results()).isEqualTo(List.of(definition.join(facts)));
                engine.submitBuild(0, hashedChanges(random, keys, hashes, live));
            }
        }
    }

    private static Chunk hashedChanges(
            Random random, int keys, int hashes, Map<Integer, Object[]> live) {
        List<Object[]> changes = new ArrayList<>();
        for (int i = random.nextInt(80); i > 0; i--) {
            int key = random.nextInt(keys);
            RowChange change = random.nextInt(3) == 0 ? RowChange.DELETE : RowChange.UPSERT;
            byte[] fullKey = ("key " + key).getBytes(StandardCharsets.UTF_8);
            String text = random.nextInt(4) == 0 ? null : "text " + random.nextInt();
            Object[] row = {random.nextInt(), text, change.code(), fullKey, (long) (key % hashes)};
            changes.add(row);
            if (change == RowChange.UPSERT) {
                live.put(key, row);
            } else {
                live.remove(key);
            }
        }
        return TestChunks.of(HASHED, 0, changes);
    }

    /** The values of a deletion are not a row, whether the key had one or not. */
    @Test
    void shouldNotMatchDeletedKeys() {
        assumeThat(appliesChanges()).isTrue();
        for (JoinKind kind : kinds()) {
            JoinSpec spec = changingStar(kind, JoinKind.LEFT);
            Live live = new Live(spec);
            try (JoinEngine engine = factory().create(spec)) {
                engine.submitBuild(1, regions());
                engine.finishBuild();
                engine.submitBuild(0, live.apply(List.of(upsert(1, 10, "a"), upsert(2, 20, "b"))));
                assertJoinsTheLiveRows(engine, live, longFacts(LongStream.range(0, 5)));
                engine.submitBuild(0, live.apply(List.of(delete(1, 10, "a"), delete(3, 30, "c"))));
                assertJoinsTheLiveRows(engine, live, longFacts(LongStream.range(0, 5)));
            }
        }
    }

    @Test
    void shouldGrowShrinkAndReuseMemoryOfDeletedRows() {
        assumeThat(appliesChanges()).isTrue();
        JoinSpec spec = changingStar(JoinKind.INNER, JoinKind.SEMI);
        Live live = new Live(spec);
        String longText = "x".repeat(2_000);
        try (JoinEngine engine = factory().create(spec)) {
            engine.submitBuild(1, regions());
            engine.finishBuild();
            for (int round = 0; round < 4; round++) {
                List<Object[]> changes = new ArrayList<>();
                for (int key = 0; key < 1_000; key++) {
                    changes.add(upsert(key, round, round + longText));
                }
                for (int key = 0; key < 1_000; key += 1 + round) {
                    changes.add(delete(key));
                }
                engine.submitBuild(0, live.apply(changes));
                assertJoinsTheLiveRows(engine, live, longFacts(LongStream.range(-1, 1_001)));
            }
        }
    }

    @Test
    void shouldRejectChangesWhileFactsAreInFlight() {
        assumeThat(appliesChanges()).isTrue();
        try (JoinEngine engine = factory().create(changingStar(JoinKind.INNER, JoinKind.INNER))) {
            engine.submitBuild(1, regions());
            engine.finishBuild();
            Chunk change = new Live(engine.spec()).apply(List.<Object[]>of(upsert(1, 1, null)));
            assertThat(engine.submitProbe(longFacts(1), 0)).isTrue();
            assertThatIllegalStateException()
                    .isThrownBy(() -> engine.submitBuild(0, change))
                    .withMessageContaining("prices")
                    .withMessageContaining("inFlight=1");
            while (engine.inFlightCount() > 0) {
                engine.poll();
            }
            EngineRun.awaitTables(engine);
            engine.submitBuild(0, change);
            EngineRun.awaitTables(engine);
            assertThatIllegalStateException()
                    .isThrownBy(() -> engine.submitBuild(1, regions()))
                    .withMessageContaining("JOINING");
            assertThat(engine.state()).isEqualTo(EngineState.JOINING);
        }
    }
}
