// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import static io.github.gpujoin.core.symmetric.testing.JoinResult.join;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceSymmetricJoin;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.testing.JoinResult;
import io.github.gpujoin.core.symmetric.testing.Materialized;
import io.github.gpujoin.core.symmetric.testing.RandomChangelog;
import io.github.gpujoin.core.symmetric.testing.TestInputs;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Change;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The tests of the answers of every symmetric join, on random changelogs: against the definition of
 * the join after every row, and against the reference, kinds of change included.
 */
public abstract class SymmetricJoinConformance extends SymmetricJoinStateConformance {

    private static final int PARTITION = 3;
    private static final int STEPS = 50;
    private static final int[] CHUNK_ROWS = {0, 1, 2, 7, 40};

    /** Some changes of one input. */
    private record Step(JoinSide side, List<Change> changes) {}

    /** A join and the changelogs of its inputs. */
    private record Scenario(
            SymmetricJoinSpec spec, MatchCondition condition, List<Step> steps, String name) {

        Chunk chunk(Step step) {
            return TestInputs.chunk(spec.input(step.side), PARTITION, step.changes);
        }
    }

    static Stream<Arguments> joins() {
        return Arrays.stream(BulkJoinKind.values())
                .flatMap(
                        kind ->
                                Arrays.stream(RowIdentity.values())
                                        .flatMap(
                                                left ->
                                                        Arrays.stream(RowIdentity.values())
                                                                .map(
                                                                        right ->
                                                                                Arguments.of(
                                                                                        kind, left,
                                                                                        right))));
    }

    private static List<Scenario> scenarios(
            BulkJoinKind kind, RowIdentity left, RowIdentity right, long timeToLiveMs) {
        List<Scenario> scenarios = new ArrayList<>();
        boolean isFirst = (kind.ordinal() + left.ordinal() + right.ordinal()) % 2 == 0;
        for (int variant : isFirst ? new int[] {0, 3} : new int[] {1, 2}) {
            boolean isHashed = (variant & 1) != 0;
            MatchCondition condition = (variant & 2) != 0 ? TestInputs.SOME : MatchCondition.ALWAYS;
            long seed = 64L * kind.ordinal() + 16 * left.ordinal() + 4 * right.ordinal() + variant;
            SymmetricJoinSpec spec =
                    new SymmetricJoinSpec(
                            TestInputs.input("l", left, isHashed, timeToLiveMs),
                            TestInputs.input("r", right, isHashed, timeToLiveMs),
                            kind);
            scenarios.add(
                    new Scenario(
                            spec,
                            condition,
                            steps(spec, new Random(seed)),
                            "seed=%d, hashed=%b, condition=%b"
                                    .formatted(seed, isHashed, (variant & 2) != 0)));
        }
        return scenarios;
    }

    private static List<Step> steps(SymmetricJoinSpec spec, Random random) {
        Map<JoinSide, RandomChangelog> changelogs = new EnumMap<>(JoinSide.class);
        for (JoinSide side : JoinSide.values()) {
            changelogs.put(side, new RandomChangelog(spec.input(side).identity(), random));
        }
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < STEPS; i++) {
            JoinSide side = random.nextBoolean() ? JoinSide.LEFT : JoinSide.RIGHT;
            for (Change change : changelogs.get(side).next()) {
                steps.add(new Step(side, List.of(change)));
            }
        }
        return steps;
    }

    /** Joins steps of one side to longer ones. */
    private static List<Step> inChunks(List<Step> steps, Random random) {
        List<Step> chunks = new ArrayList<>();
        int room = 0;
        for (Step step : steps) {
            Step last = chunks.isEmpty() ? null : chunks.get(chunks.size() - 1);
            if (last != null && last.side == step.side && last.changes.size() < room) {
                last.changes.addAll(step.changes);
            } else {
                room = CHUNK_ROWS[random.nextInt(CHUNK_ROWS.length)];
                if (room == 0) {
                    chunks.add(new Step(step.side.other(), new ArrayList<>()));
                }
                chunks.add(new Step(step.side, new ArrayList<>(step.changes)));
            }
        }
        return chunks;
    }

    private SymmetricJoin open(Scenario scenario) {
        SymmetricJoin join =
                create(scenario.spec, scenario.condition, MemoryReservations.unlimited());
        join.finishLoad(0);
        return join;
    }

    private static SymmetricJoin reference(Scenario scenario) {
        SymmetricJoin join =
                new ReferenceSymmetricJoin(
                        scenario.spec, scenario.condition, MemoryReservations.unlimited());
        join.finishLoad(0);
        return join;
    }

    // ------------------------------------------------------------------ tests

    @ParameterizedTest(name = "{0}, left {1}, right {2}")
    @MethodSource("joins")
    void shouldJoinByDefinitionAfterEveryRow(
            BulkJoinKind kind, RowIdentity left, RowIdentity right) {
        for (Scenario scenario : scenarios(kind, left, right, SymmetricInput.FOREVER)) {
            Map<JoinSide, List<Row>> live = new EnumMap<>(JoinSide.class);
            live.put(JoinSide.LEFT, new ArrayList<>());
            live.put(JoinSide.RIGHT, new ArrayList<>());
            Materialized materialized = new Materialized();
            try (SymmetricJoin join = open(scenario)) {
                for (int i = 0; i < scenario.steps.size(); i++) {
                    Step step = scenario.steps.get(i);
                    Change change = step.changes.get(0);
                    if (change.kind().isAddition()) {
                        live.get(step.side).add(change.row());
                    } else {
                        live.get(step.side).remove(change.row());
                    }
                    join(join, step.side.ordinal(), scenario.chunk(step), 0, 0)
                            .forEach(materialized::apply);
                    assertThat(materialized)
                            .as("%s, row=%d", scenario.name, i)
                            .isEqualTo(
                                    Materialized.join(
                                            kind,
                                            live.get(JoinSide.LEFT),
                                            live.get(JoinSide.RIGHT),
                                            (l, r) ->
                                                    scenario.condition == MatchCondition.ALWAYS
                                                            || TestInputs.isAccepted(l, r)));
                }
                assertThat(join.stats().unknownRetractions()).isZero();
            }
        }
    }

    @ParameterizedTest(name = "{0}, left {1}, right {2}")
    @MethodSource("joins")
    void shouldEmitTheChangesOfEachRowInOrder(
            BulkJoinKind kind, RowIdentity left, RowIdentity right) {
        for (Scenario scenario : scenarios(kind, left, right, SymmetricInput.FOREVER)) {
            try (SymmetricJoin join = open(scenario);
                    SymmetricJoin reference = reference(scenario)) {
                for (Step step : inChunks(scenario.steps, new Random(1))) {
                    assertSameResults(scenario, step, 0, join, reference);
                }
            }
        }
    }

    /** Joins a step with both, the reference by row. */
    private static void assertSameResults(
            Scenario scenario,
            Step step,
            long timeMs,
            SymmetricJoin join,
            SymmetricJoin reference) {
        List<JoinResult> results = join(join, step.side.ordinal(), scenario.chunk(step), 0, timeMs);
        int from = 0;
        for (Change change : step.changes) {
            Step row = new Step(step.side, List.of(change));
            List<JoinResult> expected =
                    join(reference, row.side.ordinal(), scenario.chunk(row), 0, timeMs);
            int to = Math.min(results.size(), from + expected.size());
            List<JoinResult> found = results.subList(from, to);
            assertThat(found)
                    .as("%s, side=%s, change=%s", scenario.name, step.side, change)
                    .containsExactlyInAnyOrderElementsOf(expected);
            assertUnmatchedResultsAreInOrder(found);
            from = to;
        }
        assertThat(results.subList(from, results.size())).as(scenario.name).isEmpty();
    }

    /** Asserts that a row loses its null result before its pair, or regains it after the pair. */
    private static void assertUnmatchedResultsAreInOrder(List<JoinResult> results) {
        List<JoinResult> pairs = new ArrayList<>();
        for (JoinResult result : results) {
            if (result.left() != null && result.right() != null) {
                pairs.add(result);
            }
        }
        for (JoinResult unmatched : results) {
            if (pairs.isEmpty() || unmatched.left() != null && unmatched.right() != null) {
                continue;
            }
            int at = results.indexOf(unmatched);
            JoinResult pair =
                    pairs.stream()
                            .filter(
                                    p ->
                                            unmatched.left() == null
                                                    ? p.right().equals(unmatched.right())
                                                    : p.left().equals(unmatched.left()))
                            .findFirst()
                            .orElseThrow();
            if (unmatched.kind().isAddition()) {
                assertThat(at).isGreaterThan(results.indexOf(pair));
            } else {
                assertThat(at).isLessThan(results.indexOf(pair));
            }
        }
    }

    @ParameterizedTest(name = "{0}, left {1}, right {2}")
    @MethodSource("joins")
    void shouldContinueAfterLoadAsAfterSubmission(
            BulkJoinKind kind, RowIdentity left, RowIdentity right) {
        for (Scenario scenario : scenarios(kind, left, right, SymmetricInput.FOREVER)) {
            List<Step> chunks = inChunks(scenario.steps, new Random(2));
            int loaded = chunks.size() / 2;
            try (SymmetricJoin reference = reference(scenario);
                    SymmetricJoin join =
                            create(
                                    scenario.spec,
                                    scenario.condition,
                                    MemoryReservations.unlimited())) {
                for (Step step : chunks.subList(0, loaded)) {
                    join(reference, step.side.ordinal(), scenario.chunk(step), 0, 0);
                    join.load(step.side.ordinal(), scenario.chunk(step), 0);
                }
                join.finishLoad(0);
                assertThat(join.stats().tableRows()).isEqualTo(reference.stats().tableRows());
                for (Step step : chunks.subList(loaded, chunks.size())) {
                    assertSameResults(scenario, step, 0, join, reference);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}, left {1}, right {2}")
    @MethodSource("joins")
    void shouldContinueFromCopiedRows(BulkJoinKind kind, RowIdentity left, RowIdentity right) {
        for (Scenario scenario : scenarios(kind, left, right, SymmetricInput.FOREVER)) {
            List<Step> chunks = inChunks(scenario.steps, new Random(3));
            int copied = chunks.size() / 2;
            try (SymmetricJoin reference = reference(scenario);
                    SymmetricJoin source = open(scenario);
                    SymmetricJoin join =
                            create(
                                    scenario.spec,
                                    scenario.condition,
                                    MemoryReservations.unlimited())) {
                for (Step step : chunks.subList(0, copied)) {
                    join(reference, step.side.ordinal(), scenario.chunk(step), 0, 0);
                    join(source, step.side.ordinal(), scenario.chunk(step), 0, 0);
                }
                for (int input = 0; input < 2; input++) {
                    int copiedInput = input;
                    source.copyRows(
                            input,
                            PARTITION,
                            rows -> join.load(copiedInput, rows.chunk(), rows.timeMs()));
                    source.copyRows(input, PARTITION + 1, rows -> assertThat(rows).isNull());
                }
                join.finishLoad(0);
                assertThat(join.stats().tableRows()).isEqualTo(reference.stats().tableRows());
                for (Step step : chunks.subList(copied, chunks.size())) {
                    assertSameResults(scenario, step, 0, join, reference);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}, left {1}, right {2}")
    @MethodSource("joins")
    void shouldExpireRowsAsTheReference(BulkJoinKind kind, RowIdentity left, RowIdentity right) {
        for (Scenario scenario : scenarios(kind, left, right, 20)) {
            Random random = new Random(4);
            long timeMs = 0;
            try (SymmetricJoin join = open(scenario);
                    SymmetricJoin reference = reference(scenario)) {
                for (Step step : inChunks(scenario.steps, random)) {
                    timeMs += random.nextInt(6);
                    assertSameResults(scenario, step, timeMs, join, reference);
                }
                join.expire(timeMs + 19);
                reference.expire(timeMs + 19);
                SymmetricJoinStats stats = join.stats();
                SymmetricJoinStats expected = reference.stats();
                assertThat(stats.expiredRows()).isPositive().isEqualTo(expected.expiredRows());
                assertThat(stats.tableRows()).isEqualTo(expected.tableRows());
                assertThat(stats.unknownRetractions()).isEqualTo(expected.unknownRetractions());
                join.expire(timeMs + 20);
                assertThat(join.stats().tableRows()).containsExactly(0L, 0L);
            }
        }
    }

    /** From the chunks that were submitted, and from copies of the rows that these left. */
    @ParameterizedTest(name = "{0}, left {1}, right {2}")
    @MethodSource("joins")
    void shouldLoadTheRowsThatHaveNotExpired(
            BulkJoinKind kind, RowIdentity left, RowIdentity right) {
        for (Scenario scenario : scenarios(kind, left, right, 20)) {
            Random random = new Random(5);
            List<Step> chunks = inChunks(scenario.steps, random);
            long timeMs = 0;
            try (SymmetricJoin source = open(scenario);
                    SymmetricJoin loaded = loading(scenario);
                    SymmetricJoin copied = loading(scenario)) {
                for (Step step : chunks) {
                    timeMs += random.nextInt(9);
                    join(source, step.side.ordinal(), scenario.chunk(step), 0, timeMs);
                    loaded.load(step.side.ordinal(), scenario.chunk(step), timeMs);
                }
                timeMs += 5;
                source.expire(timeMs);
                for (int input = 0; input < 2; input++) {
                    int side = input;
                    source.copyRows(
                            side,
                            PARTITION,
                            rows -> copied.load(side, rows.chunk(), rows.timeMs()));
                }
                for (SymmetricJoin join : List.of(loaded, copied)) {
                    join.finishLoad(timeMs);
                    assertThat(join.stats().tableRows()).isEqualTo(source.stats().tableRows());
                }
                assertThat(source.stats().expiredRows()).isPositive();
                for (long age = 5; age <= 20; age += 5) {
                    for (SymmetricJoin join : List.of(source, loaded, copied)) {
                        join.expire(timeMs + age);
                    }
                    assertThat(loaded.stats().tableRows()).isEqualTo(source.stats().tableRows());
                    assertThat(copied.stats().tableRows()).isEqualTo(source.stats().tableRows());
                }
            }
        }
    }

    private SymmetricJoin loading(Scenario scenario) {
        return create(scenario.spec, scenario.condition, MemoryReservations.unlimited());
    }
}
