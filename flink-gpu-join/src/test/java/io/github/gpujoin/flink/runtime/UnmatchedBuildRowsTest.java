// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.summingLong;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.emit.HashedKeys;
import io.github.gpujoin.flink.emit.PairJoinSpec;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.emit.ResultEmitters;
import io.github.gpujoin.flink.engine.DimensionPartitioning;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.engine.RoomForOne;
import io.github.gpujoin.flink.record.KeyLayout;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import io.github.gpujoin.flink.record.RecordEncoder;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.SelectedKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.types.Row;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Right and full outer joins: snapshots at every step, restored with another parallelism. And all
 * kinds with a condition, where tables are made of some build rows of a partition at a time.
 */
@ExtendWith(RegionLeakExtension.class)
class UnmatchedBuildRowsTest {

    private static final int PARTITIONS = JoinScenario.MAX_PARALLELISM;
    private static final TypeInformation<Row> RECORD = Types.ROW(Types.INT, Types.INT);

    /** Some records of a key match, others do not. */
    private static final JoinFunction<Row, Row, Boolean> CONDITION =
            (build, probe) -> (number(build) + number(probe)) % 4 != 0;

    /** Where the snapshot is taken. */
    enum Step {
        HALF_LOADED,
        LOADED,
        HALF_JOINED,
        FACTS_ENDED,
        HALF_GIVEN,
        FINISHED
    }

    /** Least time that a row without a match takes, so that a mail does not get through them. */
    private static volatile long unmatchedRowNs;

    private static String text(Row build, Row probe) {
        if (probe == null) {
            long endNs = System.nanoTime() + unmatchedRowNs;
            while (System.nanoTime() - endNs < 0) {
                Thread.onSpinWait();
            }
        }
        return build + " " + probe;
    }

    @AfterEach
    void resetUnmatchedRowTime() {
        unmatchedRowNs = 0;
    }

    private static int number(Row record) {
        return record.<Integer>getFieldAs(1);
    }

    private static RecordLayout<Row> whole() {
        return RecordLayout.whole(
                RECORD,
                SelectedKey.of(row -> row.<Integer>getFieldAs(0), Types.INT, Nulls.MATCH_NOTHING),
                new SerializerConfigImpl());
    }

    private static final RecordLayout<Row> BUILD = whole().numbered();
    private static final RecordLayout<Row> PROBE =
            whole().keepingNullKeys(Map.of(RecordLayout.KEY, 1));

    private static List<Row> records(Random random, int count) {
        List<Row> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Integer key = random.nextInt(12) == 0 ? null : (Integer) random.nextInt(120);
            records.add(Row.of(key, i));
        }
        return records;
    }

    private static List<Chunk> chunks(RecordLayout<Row> layout, List<Row> records, int dimension)
            throws Exception {
        RecordEncoder<Row> encoder = layout.encoder();
        Map<Integer, ChunkBuilder> builders = new TreeMap<>();
        List<Chunk> chunks = new ArrayList<>();
        for (Row record : records) {
            assertThat(encoder.accept(record)).isTrue();
            int partition = KeyHash.partition(KeyHash.hash(encoder.key(record, 0)), PARTITIONS);
            ChunkBuilder builder =
                    builders.computeIfAbsent(
                            partition, p -> new ChunkBuilder(layout.schema(), 300));
            encoder.encode(record, Long.MIN_VALUE, encoder.target(builder));
            if (builder.isFull()) {
                chunks.add(builder.seal(dimension, partition, 0, chunks.size()));
            }
        }
        builders.forEach((p, b) -> chunks.add(b.seal(dimension, p, 0, chunks.size())));
        return chunks;
    }

    private static StarJoinOperatorFactory<String> operator(PairKind kind) {
        return operator(kind, EngineSelection.only(new CpuJoinEngineFactory()));
    }

    private static StarJoinOperatorFactory<String> operator(
            PairKind kind, EngineSelection engines) {
        return operator(kind, engines, BUILD, PROBE, null);
    }

    private static StarJoinOperatorFactory<String> operator(
            PairKind kind,
            EngineSelection engines,
            RecordLayout<Row> build,
            RecordLayout<Row> probe,
            HashedKeys<Row, Row> keys) {
        JoinSpec spec =
                new JoinSpec(
                        probe.schema(),
                        List.of(
                                new DimensionSpec(
                                        "build", build.schema(), 0, 0, kind.withAllMatches(true))),
                        List.of(),
                        null,
                        probe.schema().indexOf(RecordLayout.NULL_KEYS));
        return new StarJoinOperatorFactory<>(
                JoinScenario.settings(spec, engines, 1_000),
                ResultEmitters.function(
                        spec,
                        build,
                        probe,
                        new PairJoinSpec<>(kind, keys, CONDITION, UnmatchedBuildRowsTest::text)));
    }

    private static List<String> expected(PairKind kind, List<Row> builds, List<Row> probes)
            throws Exception {
        List<String> results = new ArrayList<>();
        boolean[] matchedBuild = new boolean[builds.size()];
        for (Row p : probes) {
            boolean matched = false;
            for (int i = 0; i < builds.size(); i++) {
                Row b = builds.get(i);
                if (p.getField(0) != null
                        && p.getField(0).equals(b.getField(0))
                        && CONDITION.join(b, p)) {
                    if (kind != PairKind.SEMI && kind != PairKind.ANTI) {
                        results.add(b + " " + p);
                    }
                    matched = true;
                    matchedBuild[i] = true;
                }
            }
            if (matched ? kind == PairKind.SEMI : kind.keepsUnmatchedProbe()) {
                results.add("null " + p);
            }
        }
        for (int i = 0; i < builds.size(); i++) {
            if (!matchedBuild[i] && kind.keepsUnmatchedBuild()) {
                results.add(builds.get(i) + " null");
            }
        }
        return results;
    }

    @ParameterizedTest(name = "{0} from {1} to {2} subtasks")
    @CsvSource({
        "RIGHT, 1, 1", "RIGHT, 2, 3", "RIGHT, 3, 1", "RIGHT, 8, 2",
        "FULL, 1, 1", "FULL, 1, 8", "FULL, 2, 3", "FULL, 3, 2"
    })
    void shouldGiveEveryUnmatchedBuildRowOnceAcrossARestoreAtAnyStep(
            PairKind kind, int from, int to) throws Exception {
        for (Step step : Step.values()) {
            Random random = new Random(from * 31L + to);
            List<Row> builds = records(random, 400);
            List<Row> probes = records(random, 300);
            assertThat(joinInTwoParts(kind, step, from, to, builds, probes))
                    .as("%s", step)
                    .containsExactlyInAnyOrderElementsOf(expected(kind, builds, probes));
        }
    }

    private static List<String> joinInTwoParts(
            PairKind kind, Step step, int from, int to, List<Row> builds, List<Row> probes)
            throws Exception {
        List<Chunk> build = chunks(BUILD, builds, 0);
        List<Chunk> facts = chunks(PROBE, probes, ChunkDescriptor.FACTS);
        int built = step == Step.HALF_LOADED ? build.size() / 2 : build.size();
        int probed = step.compareTo(Step.HALF_JOINED) <= 0 ? facts.size() / 2 : facts.size();
        List<String> results = new ArrayList<>();
        OperatorSubtaskState state;
        List<JoinHarness> before = open(kind, from, from, null);
        try {
            feed(before, build.subList(0, built), facts.subList(0, probed));
            List<OperatorSubtaskState> states = new ArrayList<>();
            for (JoinHarness harness : before) {
                take(harness, step);
                if (step == Step.HALF_GIVEN && from == 1) {
                    assertThat(harness.getTaskMailbox().hasMail()).as("rows are left").isTrue();
                }
                states.add(harness.snapshot(1, 1));
                results.addAll(harness.results());
            }
            state =
                    AbstractStreamOperatorTestHarness.repackageState(
                            states.toArray(OperatorSubtaskState[]::new));
        } finally {
            IOUtils.closeAll(before);
        }
        List<JoinHarness> after = open(kind, to, from, state);
        try {
            feed(after, build.subList(built, build.size()), facts.subList(probed, facts.size()));
            for (JoinHarness harness : after) {
                harness.endBuild();
                harness.probeWatermark(Long.MAX_VALUE);
                harness.endProbe();
                harness.finish();
                results.addAll(harness.results());
            }
        } finally {
            IOUtils.closeAll(after);
        }
        return results;
    }

    private static void take(JoinHarness harness, Step step) throws Exception {
        if (step.compareTo(Step.LOADED) <= 0) {
            return;
        }
        harness.endBuild();
        harness.runMails(1_000);
        if (step.compareTo(Step.FACTS_ENDED) >= 0) {
            harness.probeWatermark(Long.MAX_VALUE);
            harness.endProbe();
        }
        if (step == Step.HALF_GIVEN) {
            unmatchedRowNs = 2_000_000;
            harness.runMails(1);
            unmatchedRowNs = 0;
        }
        if (step == Step.FINISHED) {
            harness.finish();
        }
    }

    private static List<JoinHarness> open(
            PairKind kind, int parallelism, int before, OperatorSubtaskState state)
            throws Exception {
        List<JoinHarness> harnesses = new ArrayList<>();
        for (int i = 0; i < parallelism; i++) {
            JoinHarness harness = new JoinHarness(operator(kind), PARTITIONS, parallelism, i);
            harnesses.add(harness);
            if (state != null) {
                harness.initializeState(
                        AbstractStreamOperatorTestHarness.repartitionOperatorState(
                                state, PARTITIONS, before, parallelism, i));
            }
            harness.open();
        }
        return harnesses;
    }

    private static void feed(List<JoinHarness> harnesses, List<Chunk> build, List<Chunk> facts)
            throws Exception {
        for (Chunk chunk : build) {
            owner(harnesses, chunk).build(chunk);
        }
        for (Chunk chunk : facts) {
            owner(harnesses, chunk).probe(chunk);
        }
    }

    private static JoinHarness owner(List<JoinHarness> harnesses, Chunk chunk) {
        return harnesses.get(
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        PARTITIONS, harnesses.size(), chunk.partition()));
    }

    @ParameterizedTest
    @EnumSource(PairKind.class)
    void shouldJoinEveryKindInSlicesOfAPartition(PairKind kind) throws Exception {
        RoomForOne room = new RoomForOne();
        Random random = new Random(kind.ordinal());
        List<Row> builds = records(random, 20_000);
        List<Row> probes = records(random, 300);
        // a packer leaves out what cannot match where it is in no result
        builds.removeIf(row -> row.getField(0) == null && !kind.keepsUnmatchedBuild());
        List<Chunk> build = chunks(BUILD, builds, 0);
        Map<Integer, Long> partitionBytes =
                build.stream()
                        .collect(groupingBy(Chunk::partition, summingLong(Chunk::lengthBytes)));
        EngineSelection engines =
                EngineSelection.only(room)
                        .dividing(
                                new DimensionPartitioning(
                                        0, PARTITIONS, JoinScenario.SPILL_DELAY_MS));
        try (JoinHarness harness = new JoinHarness(operator(kind, engines), PARTITIONS, 1, 0)) {
            harness.open();
            feed(List.of(harness), build, chunks(PROBE, probes, ChunkDescriptor.FACTS));
            harness.endBuild();
            harness.probeWatermark(Long.MAX_VALUE);
            harness.endProbe();
            harness.finish();
            assertThat(partitionBytes.values()).anyMatch(bytes -> bytes > 2 * room.tableBytes());
            assertThat(harness.results().stream().sorted())
                    .as("seed=%s", kind.ordinal())
                    .containsExactlyElementsOf(
                            expected(kind, builds, probes).stream().sorted().toList());
        }
    }

    @Test
    void shouldGiveThemBeforeTheLastWatermarkAndNotBeforeTheEnd() throws Exception {
        List<Row> builds = records(new Random(5), 60);
        try (JoinHarness harness = new JoinHarness(operator(PairKind.RIGHT), PARTITIONS, 1, 0)) {
            harness.open();
            feed(List.of(harness), chunks(BUILD, builds, 0), List.of());
            harness.endBuild();
            harness.probeWatermark(7);
            harness.runMails(1_000);
            // as a stop with a savepoint leaves it, which does not drain
            assertThat(harness.getOutput()).containsExactly(new Watermark(7));
            harness.probeWatermark(Long.MAX_VALUE);
            harness.endProbe();
            harness.runMails(1_000);
            assertThat(harness.results()).hasSize(60);
            assertThat(harness.getOutput()).last().isEqualTo(Watermark.MAX_WATERMARK);
            harness.finish();
            assertThat(harness.getOutput()).hasSize(62);
        }
    }

    /** The largest watermark comes where one channel has ended and the others are idle. */
    @Test
    void shouldNotTakeTheLargestWatermarkForTheEnd() throws Exception {
        List<Row> builds = List.of(Row.of(3, 1));
        List<Row> probes = List.of(Row.of(3, 4));
        try (JoinHarness harness = new JoinHarness(operator(PairKind.RIGHT), PARTITIONS, 1, 0)) {
            harness.open();
            feed(List.of(harness), chunks(BUILD, builds, 0), List.of());
            harness.endBuild();
            harness.probeWatermark(Long.MAX_VALUE);
            harness.runMails(1_000);
            assertThat(harness.getOutput()).isEmpty();
            feed(List.of(harness), List.of(), chunks(PROBE, probes, ChunkDescriptor.FACTS));
            harness.endProbe();
            harness.finish();
            assertThat(harness.results())
                    .containsExactlyElementsOf(expected(PairKind.RIGHT, builds, probes))
                    .hasSize(1);
            assertThat(harness.getOutput()).last().isEqualTo(Watermark.MAX_WATERMARK);
        }
    }

    /** Text as key, all of one hash, so that each row is a candidate of every other side's. */
    @ParameterizedTest
    @EnumSource(
            value = PairKind.class,
            names = {"RIGHT", "FULL"})
    void shouldGiveRowsWhoseKeyMatchesNothingThoughItsHashDoes(PairKind kind) throws Exception {
        long seed = 11;
        Random random = new Random(seed);
        List<Row> builds = records(random, 80);
        List<Row> probes = records(random, 90);
        SelectedKey<Row, String> key =
                new SelectedKey<>(
                        row -> row.getField(0) == null ? null : "key " + row.getField(0),
                        KeyLayout.of(Types.STRING, Nulls.MATCH_NOTHING)
                                .hashedBy((bytes, length) -> 7));
        RecordLayout<Row> layout = RecordLayout.whole(RECORD, key, new SerializerConfigImpl());
        RecordLayout<Row> build = layout.numbered();
        RecordLayout<Row> probe = layout.keepingNullKeys(Map.of(RecordLayout.KEY, 1));
        StarJoinOperatorFactory<String> operator =
                operator(
                        kind,
                        EngineSelection.only(new CpuJoinEngineFactory()),
                        build,
                        probe,
                        new HashedKeys<>(key, key));
        try (JoinHarness harness = new JoinHarness(operator, PARTITIONS, 1, 0)) {
            harness.open();
            feed(
                    List.of(harness),
                    chunks(build, builds, 0),
                    chunks(probe, probes, ChunkDescriptor.FACTS));
            harness.endBuild();
            harness.runMails(1_000);
            harness.probeWatermark(Long.MAX_VALUE);
            harness.endProbe();
            harness.finish();
            assertThat(harness.results().stream().sorted())
                    .as("seed=%s", seed)
                    .containsExactlyElementsOf(
                            expected(kind, builds, probes).stream().sorted().toList());
        }
    }
}
