// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import static io.github.gpujoin.core.symmetric.ChangeKind.DELETE;
import static io.github.gpujoin.core.symmetric.ChangeKind.INSERT;
import static io.github.gpujoin.core.symmetric.ChangeKind.UPDATE_AFTER;
import static io.github.gpujoin.core.symmetric.ChangeKind.UPDATE_BEFORE;
import static io.github.gpujoin.core.symmetric.testing.JoinResult.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceMultiJoin;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.testing.JoinResult;
import io.github.gpujoin.core.symmetric.testing.RandomChangelog;
import io.github.gpujoin.core.symmetric.testing.SwitchedMemory;
import io.github.gpujoin.core.symmetric.testing.TestInputs;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Change;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Row;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The tests of every join of more than two inputs, on random changelogs: against the definition of
 * the join after every row, and against the reference, kinds of change included.
 */
@ExtendWith(RegionLeakExtension.class)
public abstract class MultiJoinConformance {

    private static final int PARTITION = 3;
    private static final int SCENARIOS = 60;
    private static final int STEPS = 60;
    private static final RowIdentity[] IDENTITIES = RowIdentity.values();

    /** Rejects some rows, and rows of an input behind one without a match if the seed says so. */
    private record SomeRows(boolean needsPrevious) implements MultiJoinCondition {

        @Override
        public boolean matches(int input, Chunk[] chunks, int[] rows) {
            if (chunks[input - 1] == null) {
                return !needsPrevious;
            }
            return isAccepted(
                    chunks[input - 1].getInt(TestInputs.VALUE, rows[input - 1]),
                    chunks[input].getInt(TestInputs.VALUE, rows[input]));
        }

        private static boolean isAccepted(int previous, int value) {
            return (previous + value) % 3 != 0;
        }

        boolean matches(List<Row> rows, Row row) {
            Row previous = rows.get(rows.size() - 1);
            return previous == null ? !needsPrevious : isAccepted(previous.value(), row.value());
        }
    }

    /** Some changes of one input. */
    private record Step(int input, List<Change> changes) {}

    /** A join and the changelogs of its inputs. */
    private record Scenario(
            String name, MultiJoinSpec spec, MultiJoinCondition condition, List<Step> steps) {

        Chunk chunk(Step step) {
            return TestInputs.chunk(spec.inputs().get(step.input), PARTITION, step.changes);
        }

        int size() {
            return spec.inputs().size();
        }
    }

    /** Creates the join under test. The test closes it. */
    protected abstract SymmetricJoin create(
            MultiJoinSpec spec, MultiJoinCondition condition, MemoryReservations hostMemory);

    private static Scenario scenario(int seed, long timeToLiveMs) {
        Random random = new Random(seed);
        int size = 2 + random.nextInt(4);
        boolean isHashed = random.nextInt(3) == 0;
        List<SymmetricInput> inputs = new ArrayList<>();
        List<Boolean> leftJoins = new ArrayList<>();
        List<RandomChangelog> changelogs = new ArrayList<>();
        boolean isAppended = random.nextInt(4) == 0;
        for (int i = 0; i < size; i++) {
            RowIdentity identity =
                    isAppended
                            ? RowIdentity.APPEND_ONLY
                            : IDENTITIES[random.nextInt(IDENTITIES.length)];
            inputs.add(TestInputs.input("input " + i, identity, isHashed, timeToLiveMs));
            leftJoins.add(i > 0 && random.nextInt(3) > 0);
            changelogs.add(new RandomChangelog(identity, random));
        }
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < STEPS; i++) {
            int input = random.nextInt(size);
            for (Change change : changelogs.get(input).next()) {
                steps.add(new Step(input, List.of(change)));
            }
        }
        MultiJoinCondition condition =
                random.nextBoolean()
                        ? MultiJoinCondition.ALWAYS
                        : new SomeRows(random.nextBoolean());
        MultiJoinSpec spec = new MultiJoinSpec(inputs, leftJoins);
        String name =
                "seed=%d, identities=%s, leftJoins=%s, hashed=%b, condition=%b"
                        .formatted(
                                seed,
                                inputs.stream().map(SymmetricInput::identity).toList(),
                                leftJoins,
                                isHashed,
                                condition != MultiJoinCondition.ALWAYS);
        return new Scenario(name, spec, condition, steps);
    }

    private static List<Scenario> scenarios(long timeToLiveMs) {
        return IntStream.range(0, SCENARIOS)
                .mapToObj(seed -> scenario(seed, timeToLiveMs))
                .toList();
    }

    /** Merges steps of one input to longer ones, and adds empty ones. */
    private static List<Step> inChunks(List<Step> steps, Random random) {
        List<Step> chunks = new ArrayList<>();
        for (Step step : steps) {
            Step last = chunks.isEmpty() ? null : chunks.get(chunks.size() - 1);
            if (last != null && last.input == step.input && random.nextInt(4) > 0) {
                last.changes.addAll(step.changes);
            } else {
                chunks.add(new Step(step.input, new ArrayList<>(step.changes)));
            }
            if (random.nextInt(10) == 0) {
                chunks.add(new Step(step.input, new ArrayList<>()));
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
                new ReferenceMultiJoin(
                        scenario.spec, scenario.condition, MemoryReservations.unlimited());
        join.finishLoad(0);
        return join;
    }

    // ------------------------------------------------------------------ definition

    /** Counts the results of a join of some rows by comparing all of them. */
    private static Map<List<Row>, Integer> definition(Scenario scenario, List<List<Row>> live) {
        Map<List<Row>, Integer> results = new HashMap<>();
        for (Row first : live.get(0)) {
            List<List<Row>> combinations = List.of(List.of(first));
            for (int input = 1; input < scenario.size(); input++) {
                List<List<Row>> longer = new ArrayList<>();
                for (List<Row> rows : combinations) {
                    List<List<Row>> matches = new ArrayList<>();
                    for (Row row : live.get(input)) {
                        if (first.key() != null
                                && first.key().equals(row.key())
                                && (!(scenario.condition instanceof SomeRows some)
                                        || some.matches(rows, row))) {
                            matches.add(with(rows, row));
                        }
                    }
                    if (matches.isEmpty() && scenario.spec.keepsUnmatched(input)) {
                        matches.add(with(rows, null));
                    }
                    longer.addAll(matches);
                }
                combinations = longer;
            }
            combinations.forEach(rows -> results.merge(rows, 1, Integer::sum));
        }
        return results;
    }

    private static List<Row> with(List<Row> rows, Row added) {
        List<Row> longer = new ArrayList<>(rows);
        longer.add(added);
        return longer;
    }

    private static void apply(Map<List<Row>, Integer> results, JoinResult result) {
        int count = results.getOrDefault(result.rows(), 0) + (result.kind().isAddition() ? 1 : -1);
        assertThat(count)
                .as("a result is retracted that was not emitted: %s", result)
                .isNotNegative();
        if (count == 0) {
            results.remove(result.rows());
        } else {
            results.put(result.rows(), count);
        }
    }

    @Test
    void shouldJoinByDefinitionAfterEveryRow() {
        for (Scenario scenario : scenarios(SymmetricInput.FOREVER)) {
            List<List<Row>> live = new ArrayList<>();
            scenario.spec.inputs().forEach(input -> live.add(new ArrayList<>()));
            Map<List<Row>, Integer> materialized = new HashMap<>();
            try (SymmetricJoin join = open(scenario)) {
                for (int i = 0; i < scenario.steps.size(); i++) {
                    Step step = scenario.steps.get(i);
                    Change change = step.changes.get(0);
                    if (change.kind().isAddition()) {
                        live.get(step.input).add(change.row());
                    } else {
                        live.get(step.input).remove(change.row());
                    }
                    join(join, step.input, scenario.chunk(step), 0, 0)
                            .forEach(result -> apply(materialized, result));
                    assertThat(materialized)
                            .as("%s, row=%d", scenario.name, i)
                            .isEqualTo(definition(scenario, live));
                }
                assertThat(join.stats().unknownRetractions()).isZero();
            }
        }
    }

    // ------------------------------------------------------------------ reference

    /** Joins a step with both, the reference by row. */
    private static void assertSameResults(
            Scenario scenario,
            Step step,
            long timeMs,
            SymmetricJoin join,
            SymmetricJoin reference) {
        List<JoinResult> results = join(join, step.input, scenario.chunk(step), 0, timeMs);
        int from = 0;
        for (Change change : step.changes) {
            Step row = new Step(step.input, List.of(change));
            List<JoinResult> expected = join(reference, row.input, scenario.chunk(row), 0, timeMs);
            int to = Math.min(results.size(), from + expected.size());
            assertThat(results.subList(from, to))
                    .as("%s, input=%d, change=%s", scenario.name, step.input, change)
                    .containsExactlyInAnyOrderElementsOf(expected);
            from = to;
        }
        assertThat(results.subList(from, results.size())).as(scenario.name).isEmpty();
    }

    @Test
    void shouldEmitTheChangesOfEachRowInOrder() {
        for (Scenario scenario : scenarios(SymmetricInput.FOREVER)) {
            try (SymmetricJoin join = open(scenario);
                    SymmetricJoin reference = reference(scenario)) {
                for (Step step : inChunks(scenario.steps, new Random(1))) {
                    assertSameResults(scenario, step, 0, join, reference);
                }
            }
        }
    }

    @ParameterizedTest(name = "from copied rows: {0}")
    @ValueSource(booleans = {false, true})
    void shouldContinueAfterLoadAsAfterSubmission(boolean isCopied) {
        for (Scenario scenario : scenarios(SymmetricInput.FOREVER)) {
            List<Step> chunks = inChunks(scenario.steps, new Random(2));
            int loaded = chunks.size() / 2;
            try (SymmetricJoin reference = reference(scenario);
                    SymmetricJoin source = open(scenario);
                    SymmetricJoin join =
                            create(
                                    scenario.spec,
                                    scenario.condition,
                                    MemoryReservations.unlimited())) {
                for (Step step : chunks.subList(0, loaded)) {
                    join(reference, step.input, scenario.chunk(step), 0, 0);
                    if (isCopied) {
                        join(source, step.input, scenario.chunk(step), 0, 0);
                    } else {
                        join.load(step.input, scenario.chunk(step), 0);
                    }
                }
                for (int i = 0; i < scenario.size(); i++) {
                    int input = i;
                    source.copyRows(
                            input,
                            PARTITION,
                            rows -> join.load(input, rows.chunk(), rows.timeMs()));
                }
                join.finishLoad(0);
                assertThat(join.stats().tableRows()).isEqualTo(reference.stats().tableRows());
                for (Step step : chunks.subList(loaded, chunks.size())) {
                    assertSameResults(scenario, step, 0, join, reference);
                }
            }
        }
    }

    @Test
    void shouldExpireRowsAsTheReference() {
        for (Scenario scenario : scenarios(20)) {
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
                assertThat(join.stats().tableRows()).isEqualTo(reference.stats().tableRows());
                assertThat(join.stats().expiredRows())
                        .isPositive()
                        .isEqualTo(reference.stats().expiredRows());
                assertThat(join.stats().unknownRetractions())
                        .isEqualTo(reference.stats().unknownRetractions());
                join.expire(timeMs + 20);
                assertThat(join.stats().tableRows()).containsOnly(0L);
            }
        }
    }

    // ------------------------------------------------------------------ kinds of change

    private static final Row A = new Row(5, 1);
    private static final Row B = new Row(5, 2);
    private static final Row C = new Row(5, 3);

    private static MultiJoinSpec spec(RowIdentity identity, Boolean... leftJoins) {
        List<SymmetricInput> inputs = new ArrayList<>();
        for (int i = 0; i < leftJoins.length; i++) {
            inputs.add(TestInputs.input("input " + i, identity, false));
        }
        return new MultiJoinSpec(inputs, List.of(leftJoins));
    }

    private SymmetricJoin open(MultiJoinSpec spec) {
        return open(new Scenario("", spec, MultiJoinCondition.ALWAYS, List.of()));
    }

    private static List<JoinResult> submit(
            SymmetricJoin join, int input, ChangeKind kind, Row row) {
        Chunk chunk =
                TestInputs.chunk(
                        join.inputs().get(input), PARTITION, List.of(new Change(kind, row)));
        return join(join, input, chunk, 0, 0);
    }

    private static JoinResult result(ChangeKind kind, Row... rows) {
        return new JoinResult(kind, Arrays.asList(rows));
    }

    @Test
    void shouldChangeUnmatchedResultsOfEachStepBeforeAndAfterItsMatches() {
        try (SymmetricJoin join = open(spec(RowIdentity.UNIQUE_COLUMNS, false, true, true))) {
            assertThat(submit(join, 2, INSERT, C)).isEmpty();
            assertThat(submit(join, 0, UPDATE_AFTER, A))
                    .containsExactly(result(UPDATE_AFTER, A, null, C));
            assertThat(submit(join, 1, UPDATE_AFTER, B))
                    .containsExactly(result(DELETE, A, null, C), result(UPDATE_AFTER, A, B, C));
            assertThat(submit(join, 2, UPDATE_BEFORE, C))
                    .containsExactly(result(UPDATE_BEFORE, A, B, C), result(INSERT, A, B, null));
            assertThat(submit(join, 2, UPDATE_AFTER, C))
                    .containsExactly(result(DELETE, A, B, null), result(UPDATE_AFTER, A, B, C));
            assertThat(submit(join, 1, DELETE, B))
                    .containsExactly(result(DELETE, A, B, C), result(INSERT, A, null, C));
            assertThat(submit(join, 0, UPDATE_BEFORE, A))
                    .containsExactly(result(UPDATE_BEFORE, A, null, C));
        }
    }

    @Test
    void shouldReturnNothingForAnUnmatchedStepBeforeAnInnerOneWithoutMatch() {
        try (SymmetricJoin join = open(spec(RowIdentity.UNIQUE_COLUMNS, false, true, false))) {
            assertThat(submit(join, 0, INSERT, A)).isEmpty();
            assertThat(submit(join, 1, INSERT, B)).isEmpty();
            assertThat(submit(join, 2, INSERT, C)).containsExactly(result(INSERT, A, B, C));
        }
    }

    @Test
    void shouldRetractNoUnmatchedResultWhenARowIsReplaced() {
        try (SymmetricJoin join = open(spec(RowIdentity.JOIN_KEY, false, true, false))) {
            Row after = new Row(5, 4);
            submit(join, 0, INSERT, A);
            submit(join, 1, INSERT, B);
            submit(join, 2, INSERT, C);
            assertThat(submit(join, 1, UPDATE_AFTER, after))
                    .containsExactly(result(UPDATE_AFTER, A, after, C));
            assertThat(submit(join, 2, DELETE, C)).containsExactly(result(DELETE, A, after, C));
        }
    }

    // ------------------------------------------------------------------ batches

    @Test
    void shouldReturnTheResultsOfOneRowAcrossBatches() {
        MultiJoinSpec spec = spec(RowIdentity.UNIQUE_COLUMNS, false, true, false);
        List<Change> hundred =
                IntStream.range(0, 100).mapToObj(id -> new Change(INSERT, new Row(5, id))).toList();
        Chunk outer = TestInputs.chunk(spec.inputs().get(0), PARTITION, hundred);
        Chunk last = TestInputs.chunk(spec.inputs().get(2), PARTITION, hundred);
        Chunk middle = TestInputs.chunk(spec.inputs().get(1), PARTITION, hundred.subList(0, 3));
        try (SymmetricJoin join = open(spec)) {
            join(join, 0, outer, 0, 0);
            join(join, 2, last, 0, 0);
            assertThat(join.submit(1, middle, 0, 0)).isTrue();
            int results = 0;
            int repeated = 0;
            SymmetricBatch batch;
            do {
                batch = join.poll();
                int completed = batch.completedRows();
                results += batch.resultCount();
                // The first row retracts 10,000 unmatched results before its own 10,000.
                int ofCompleted = completed == 0 ? 0 : 10_000 * (completed + 1);
                assertThat(batch.endsAmidRow()).isEqualTo(results > ofCompleted);
                repeated += batch.endsAmidRow() ? 1 : 0;
            } while (!batch.isLast());
            assertThat(results).isEqualTo(40_000);
            assertThat(repeated).isGreaterThan(5);
        }
        try (SymmetricJoin restarted =
                create(spec, MultiJoinCondition.ALWAYS, MemoryReservations.unlimited())) {
            restarted.load(0, outer, 0);
            restarted.load(2, last, 0);
            restarted.finishLoad(0);
            assertThat(join(restarted, 1, middle, 2, 0))
                    .hasSize(10_000)
                    .allMatch(result -> result.rows().get(1).id() == 2);
        }
    }

    @ParameterizedTest
    @EnumSource(names = "JOIN_KEY", mode = EnumSource.Mode.EXCLUDE)
    void shouldReserveNoMemoryAmidTheResultsOfARow(RowIdentity identity) {
        MultiJoinSpec spec = spec(identity, false, true, false);
        SwitchedMemory memory = new SwitchedMemory();
        List<Change> hundred =
                IntStream.range(0, 100).mapToObj(id -> new Change(INSERT, new Row(5, id))).toList();
        try (SymmetricJoin join = create(spec, MultiJoinCondition.ALWAYS, memory)) {
            join.finishLoad(0);
            for (int input : new int[] {0, 2}) {
                Chunk chunk = TestInputs.chunk(spec.inputs().get(input), PARTITION, hundred);
                join(join, input, chunk, 0, 0);
            }
            Chunk middle =
                    TestInputs.chunk(spec.inputs().get(1), PARTITION, TestInputs.growing(100, 5));
            assertThat(memory.joinRefusingAmidRows(join, 1, middle)).isGreaterThanOrEqualTo(200);
        }
    }

    // ------------------------------------------------------------------ checks

    @Test
    void shouldRejectStepsThatContradictTheInputs() {
        assertThatThrownBy(() -> spec(RowIdentity.MULTISET, true, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("leftJoins=[true, false]");
        assertThatThrownBy(() -> spec(RowIdentity.MULTISET, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("inputs=1");
        SymmetricInput input = TestInputs.input("orders", RowIdentity.MULTISET, false);
        assertThatThrownBy(() -> new MultiJoinSpec(List.of(input, input), List.of(false, false)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("orders");
    }
}
