// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static io.github.gpujoin.flink.runtime.VersionedScenario.FACTS;
import static io.github.gpujoin.flink.runtime.VersionedScenario.LATE_FACTS;
import static io.github.gpujoin.flink.runtime.VersionedScenario.LATE_VERSIONS;
import static io.github.gpujoin.flink.runtime.VersionedScenario.PRICES;
import static io.github.gpujoin.flink.runtime.VersionedScenario.byPartition;
import static io.github.gpujoin.flink.runtime.VersionedScenario.chunk;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.runtime.eventtime.EventTimeJoin;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Versioned dimensions that join late rows against Flink's own temporal join: the same rows and
 * watermarks in the same order. Drawn from the seed in the test's display name.
 */
@ExtendWith(RegionLeakExtension.class)
class JoinedLateRowsTest {

    private static final int MAX_PARALLELISM = JoinScenario.MAX_PARALLELISM;

    /** Emits {@code "fact|price"}, 0 for no price. */
    private static final class PriceEmitter implements ResultEmitter<String> {
        @Override
        public void emit(
                ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<String>> output) {
            for (int row = fromRow; row < toRow; row++) {
                long number = batch.chunk().getLong(1, batch.probeRow(row));
                long price = batch.isMatched(0, row) ? batch.getLong(0, 0, row) : 0;
                output.collect(new StreamRecord<>(number + "|" + price));
            }
        }
    }

    private final List<JoinHarness> subtasks = new ArrayList<>();
    private final List<String> results = new ArrayList<>();
    private StateBackend backend = new HashMapStateBackend();
    private JoinEngineFactory engine = new CpuJoinEngineFactory();
    private JoinKind kind = JoinKind.INNER;
    private EventTimeTemporalJoin flink;
    private long number;

    @AfterEach
    void close() throws Exception {
        IOUtils.closeAll(subtasks);
        flink.close();
    }

    private void open(int parallelism, OperatorSubtaskState state) throws Exception {
        int before = Math.max(1, subtasks.size());
        IOUtils.closeAll(subtasks);
        subtasks.clear();
        JoinSpec spec =
                new JoinSpec(FACTS, List.of(new DimensionSpec("prices", PRICES, 0, 0, kind, 3)));
        EventTimeJoin join = new EventTimeJoin(0, 2, 2, true, LATE_FACTS, LATE_VERSIONS);
        for (int i = 0; i < parallelism; i++) {
            StarJoinOperatorFactory<String> operator =
                    new StarJoinOperatorFactory<>(
                            JoinScenario.settings(
                                    spec,
                                    EngineSelection.only(engine),
                                    1_000,
                                    join,
                                    TimesToLive.NONE),
                            context -> new PriceEmitter());
            JoinHarness subtask = new JoinHarness(operator, MAX_PARALLELISM, parallelism, i);
            subtasks.add(subtask);
            subtask.setStateBackend(backend);
            if (state == null) {
                subtask.initializeEmptyState();
            } else {
                subtask.initializeState(
                        AbstractStreamOperatorTestHarness.repartitionOperatorState(
                                state, MAX_PARALLELISM, before, parallelism, i));
            }
            subtask.open();
            if (state == null) {
                subtask.completeBuild();
            }
        }
    }

    private void restore(int parallelism) throws Exception {
        List<OperatorSubtaskState> states = new ArrayList<>();
        for (JoinHarness subtask : subtasks) {
            subtask.barrier(1);
            states.add(subtask.snapshot(1, 1));
        }
        collect();
        open(
                parallelism,
                AbstractStreamOperatorTestHarness.repackageState(
                        states.toArray(OperatorSubtaskState[]::new)));
        flink.restore();
    }

    private void collect() throws Exception {
        for (JoinHarness subtask : subtasks) {
            results.addAll(subtask.results());
            assertThat(subtask.getSideOutput(LATE_FACTS)).isNull();
            assertThat(subtask.getSideOutput(LATE_VERSIONS)).isNull();
            subtask.getOutput().clear();
        }
    }

    private void watermark(long time) throws Exception {
        for (JoinHarness subtask : subtasks) {
            subtask.probeWatermark(time);
            subtask.runMails(Integer.MAX_VALUE);
        }
        flink.watermark(time);
    }

    private void versions(List<long[]> rows) throws Exception {
        for (long[] row : rows) {
            boolean deletes = row[3] == RowChange.DELETE.code();
            flink.version(deletes ? RowKind.DELETE : RowKind.UPDATE_AFTER, row[0], row[1], row[2]);
        }
        for (var entry : byPartition(rows).entrySet()) {
            owner(entry.getKey()).probe(chunk(PRICES, 0, entry.getValue()));
        }
    }

    private void facts(List<long[]> rows) throws Exception {
        for (long[] row : rows) {
            flink.fact(row[0], row[1], row[2]);
        }
        for (var entry : byPartition(rows).entrySet()) {
            owner(entry.getKey()).probe(chunk(FACTS, ChunkDescriptor.FACTS, entry.getValue()));
        }
    }

    private JoinHarness owner(int partition) {
        return subtasks.get(
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        MAX_PARALLELISM, subtasks.size(), partition));
    }

    /** Draws the time of a row: often that of other rows, and {@code disorder} back at most. */
    private static long time(Random random, long now, int disorder) {
        return now - 2L * random.nextInt(1 + disorder / 2);
    }

    private List<long[]> randomVersions(Random random, long now, int disorder) {
        List<long[]> rows = new ArrayList<>();
        for (int i = random.nextInt(12); i >= 0; i--) {
            RowChange change = random.nextInt(4) == 0 ? RowChange.DELETE : RowChange.UPSERT;
            long time = time(random, now + random.nextInt(20), disorder);
            rows.add(new long[] {random.nextInt(12), ++number, time, change.code()});
        }
        return rows;
    }

    private List<long[]> randomFacts(Random random, long now, int disorder) {
        List<long[]> rows = new ArrayList<>();
        for (int i = random.nextInt(12); i >= 0; i--) {
            rows.add(new long[] {random.nextInt(14), ++number, time(random, now, disorder)});
        }
        return rows;
    }

    @ParameterizedTest(name = "seed={0} kind={1} disorder={2} delay={3} engine={4} RocksDB={5}")
    @CsvSource({
        "1,INNER,40,0,cpu,false",
        "2,LEFT,40,0,cpu,true",
        "3,INNER,200,0,reference,false",
        "4,LEFT,200,0,cpu,false",
        "5,LEFT,40,20,cpu,false",
        "6,INNER,400,100,cpu,true",
        "7,LEFT,0,0,cpu,false",
        "8,LEFT,1000,10,cpu,false"
    })
    void shouldJoinLateRowsAsFlink(
            long seed, JoinKind kind, int disorder, int delay, String engine, boolean rocksDb)
            throws Exception {
        Random random = new Random(seed);
        this.kind = kind;
        if (engine.equals("reference")) {
            this.engine = new ReferenceJoinEngineFactory();
        }
        if (rocksDb) {
            backend = new EmbeddedRocksDBStateBackend();
        }
        flink = new EventTimeTemporalJoin(kind == JoinKind.LEFT);
        open(2, null);
        long now = 0;
        for (int step = 0; step < 500; step++) {
            now += random.nextInt(20);
            switch (random.nextInt(12)) {
                case 0 -> {
                    if (random.nextInt(4) == 0) {
                        restore(1 + random.nextInt(4));
                    }
                }
                case 1, 2, 3, 4 -> watermark(now - delay);
                case 5, 6, 7 -> versions(randomVersions(random, now, disorder));
                default -> facts(randomFacts(random, now, disorder));
            }
            if (step % 20 == 0) {
                collect();
                assertThat(results)
                        .as("step %d", step)
                        .containsExactlyInAnyOrderElementsOf(flink.results());
            }
        }
        watermark(Long.MAX_VALUE);
        collect();
        assertThat(results)
                .hasSizeGreaterThan(300)
                .containsExactlyInAnyOrderElementsOf(flink.results());
    }

    @Test
    void shouldShowALateFactTheVersionThatIsStillKept() throws Exception {
        flink = new EventTimeTemporalJoin(false);
        open(1, null);
        versions(List.of(new long[] {1, 10, 5, 0}, new long[] {1, 20, 15, 0}));
        facts(List.of(new long[] {1, 100, 6}));
        watermark(7);
        // No fact of the key, and no new version: the version of 5 stays.
        watermark(20);
        facts(List.of(new long[] {1, 101, 8}));
        watermark(21);
        facts(List.of(new long[] {1, 102, 9}, new long[] {1, 103, 16}));
        watermark(22);
        collect();
        assertThat(results)
                .containsExactly("100|10", "101|10", "103|20")
                .isEqualTo(flink.results());
    }

    @Test
    void shouldShowALateFactALateVersionThatPrecedesThatOfTheTable() throws Exception {
        kind = JoinKind.LEFT;
        flink = new EventTimeTemporalJoin(true);
        open(1, null);
        versions(List.of(new long[] {1, 20, 15, 0}));
        watermark(20);
        versions(List.of(new long[] {1, 10, 5, 0}));
        facts(List.of(new long[] {1, 100, 4}, new long[] {1, 101, 6}, new long[] {1, 102, 30}));
        watermark(21);
        facts(List.of(new long[] {1, 103, 6}));
        watermark(40);
        collect();
        assertThat(results)
                .containsExactly("100|0", "101|10", "103|0", "102|20")
                .containsExactlyInAnyOrderElementsOf(flink.results());
    }
}
