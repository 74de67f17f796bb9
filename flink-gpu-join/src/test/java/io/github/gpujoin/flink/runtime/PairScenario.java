// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.emit.HashedKeys;
import io.github.gpujoin.flink.emit.PairJoinSpec;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.emit.ResultEmitters;
import io.github.gpujoin.flink.engine.EngineSelection;
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
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.types.Row;

/** Random rows of two sides, the join of both by key and condition, and its expected results. */
final class PairScenario {

    static final int PARTITIONS = JoinScenario.MAX_PARALLELISM;
    static final TypeInformation<Row> RECORD = Types.ROW(Types.INT, Types.INT);

    /** Matches some pairs of rows of a key. */
    static final JoinFunction<Row, Row, Boolean> CONDITION =
            (build, probe) -> (number(build) + number(probe)) % 4 != 0;

    static final RecordLayout<Row> BUILD = whole().numbered();
    static final RecordLayout<Row> PROBE = whole().keepingNullKeys(Map.of(RecordLayout.KEY, 1));

    /** Minimum time to emit an unmatched row; lets a mail end before all rows are emitted. */
    static volatile long unmatchedRowNs;

    private PairScenario() {}

    static String text(Row build, Row probe) {
        if (probe == null) {
            long endNs = System.nanoTime() + unmatchedRowNs;
            while (System.nanoTime() - endNs < 0) {
                Thread.onSpinWait();
            }
        }
        return build + " " + probe;
    }

    static int number(Row record) {
        return record.<Integer>getFieldAs(1);
    }

    static RecordLayout<Row> whole() {
        return RecordLayout.whole(
                RECORD,
                SelectedKey.of(row -> row.<Integer>getFieldAs(0), Types.INT, Nulls.MATCH_NOTHING),
                new SerializerConfigImpl());
    }

    static List<Row> records(Random random, int count) {
        List<Row> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Integer key = random.nextInt(12) == 0 ? null : (Integer) random.nextInt(120);
            records.add(Row.of(key, i));
        }
        return records;
    }

    static List<Chunk> chunks(RecordLayout<Row> layout, List<Row> records, int dimension)
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

    static StarJoinOperatorFactory<String> operator(PairKind kind) {
        return operator(kind, EngineSelection.only(new CpuJoinEngineFactory()));
    }

    static StarJoinOperatorFactory<String> operator(PairKind kind, EngineSelection engines) {
        return operator(kind, engines, BUILD, PROBE, null);
    }

    static StarJoinOperatorFactory<String> operator(
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
                        new PairJoinSpec<>(kind, keys, CONDITION, PairScenario::text)));
    }

    /** Returns the results of a nested-loop join. */
    static List<String> expected(PairKind kind, List<Row> builds, List<Row> probes)
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

    /** Opens all subtasks, restored from a state of {@code before} subtasks unless it is null. */
    static List<JoinHarness> open(
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

    /** Sends each chunk to the subtask that owns its partition. */
    static void feed(List<JoinHarness> harnesses, List<Chunk> build, List<Chunk> facts)
            throws Exception {
        for (Chunk chunk : build) {
            owner(harnesses, chunk).build(chunk);
        }
        for (Chunk chunk : facts) {
            owner(harnesses, chunk).probe(chunk);
        }
    }

    static JoinHarness owner(List<JoinHarness> harnesses, Chunk chunk) {
        return harnesses.get(
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        PARTITIONS, harnesses.size(), chunk.partition()));
    }
}
