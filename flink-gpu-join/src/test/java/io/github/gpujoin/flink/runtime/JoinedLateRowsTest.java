// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static io.github.gpujoin.flink.runtime.VersionedScenario.LATE_FACTS;
import static io.github.gpujoin.flink.runtime.VersionedScenario.LATE_VERSIONS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.HostDevice;
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
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Versioned dimensions that join late rows against Flink's own temporal join: the same rows and
 * watermarks in the same order. Drawn from the seed in the test's display name.
 */
@ExtendWith(RegionLeakExtension.class)
class JoinedLateRowsTest {

    private static final int MAX_PARALLELISM = JoinScenario.MAX_PARALLELISM;

    /** Count of keys that have versions. */
    private static final int KEYS = 12;

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
    private EngineSelection engine = EngineSelection.only(new CpuJoinEngineFactory());
    private VersionedShape shape = new VersionedShape(JoinKind.INNER, 0);
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
        for (int i = 0; i < parallelism; i++) {
            StarJoinOperatorFactory<String> operator =
                    new StarJoinOperatorFactory<>(
                            JoinScenario.settings(
                                    shape.spec(),
                                    engine,
                                    1_000,
                                    shape.eventTime(true),
                                    TimesToLive.NONE),
                            shape.emitter(new PriceEmitter()));
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
        for (Chunk chunk : shape.versions(rows)) {
            owner(chunk.partition()).probe(chunk);
        }
    }

    private void facts(List<long[]> rows) throws Exception {
        for (long[] row : rows) {
            flink.fact(row[0], row[1], row[2]);
        }
        for (Chunk chunk : shape.facts(rows)) {
            owner(chunk.partition()).probe(chunk);
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
            rows.add(new long[] {random.nextInt(KEYS), ++number, time, change.code()});
        }
        return rows;
    }

    private List<long[]> randomFacts(Random random, long now, int disorder) {
        List<long[]> rows = new ArrayList<>();
        for (int i = random.nextInt(12); i >= 0; i--) {
            rows.add(new long[] {random.nextInt(KEYS + 2), ++number, time(random, now, disorder)});
        }
        return rows;
    }

    /** With 5 hashes, each of 12 keys shares its hash with others. */
    @ParameterizedTest(
            name = "seed={0} kind={1} disorder={2} delay={3} engine={4} RocksDB={5} hashes={6}")
    @CsvSource({
        "1,INNER,40,0,cpu,false,0",
        "2,LEFT,40,0,cpu,true,0",
        "3,INNER,200,0,reference,false,0",
        "4,LEFT,200,0,cpu,false,0",
        "5,LEFT,40,20,cpu,false,0",
        "6,INNER,400,100,cpu,true,0",
        "7,LEFT,0,0,cpu,false,0",
        "8,LEFT,1000,10,cpu,false,0",
        "9,INNER,40,0,cpu,false,5",
        "10,LEFT,40,20,cpu,true,5",
        "11,LEFT,200,0,reference,false,5",
        "12,INNER,400,100,cpu,false,5",
        "13,LEFT,1000,10,cpu,false,1",
        "14,LEFT,200,0,cpu,false,1000"
    })
    void shouldJoinLateRowsAsFlink(
            long seed,
            JoinKind kind,
            int disorder,
            int delay,
            String engine,
            boolean rocksDb,
            int hashes)
            throws Exception {
        if (engine.equals("reference")) {
            this.engine = EngineSelection.only(new ReferenceJoinEngineFactory());
        }
        if (rocksDb) {
            backend = new EmbeddedRocksDBStateBackend();
        }
        shape = new VersionedShape(kind, hashes);
        joinRandomly(new Random(seed), disorder, delay);
    }

    /** The first two keys with one hash leave the GPU; without any, it joins all. */
    @ParameterizedTest(name = "seed={0} kind={1} hashes={2}")
    @CsvSource({"21,INNER,5", "22,LEFT,5", "23,LEFT,1000"})
    void shouldJoinLateRowsAsFlinkOnADevice(long seed, JoinKind kind, int hashes) throws Exception {
        shape = new VersionedShape(kind, hashes);
        CountedCpuFactory cpu = new CountedCpuFactory();
        try (HostDevice device = HostDevice.open(GpuOptions.defaults().withSlots(4, 1_000))) {
            engine = new EngineSelection(context -> device, true, cpu);
            joinRandomly(new Random(seed), 200, 10);
            IOUtils.closeAll(subtasks);
        }
        assertThat(cpu.engineCount() > 0).isEqualTo(hashes < KEYS);
    }

    private void joinRandomly(Random random, int disorder, int delay) throws Exception {
        flink = new EventTimeTemporalJoin(shape.kind() == JoinKind.LEFT);
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

    /** Keys 1 and 7 share the only hash. */
    @ParameterizedTest(name = "hashes={0}")
    @ValueSource(ints = {0, 1})
    void shouldShowALateFactTheVersionThatIsStillKept(int hashes) throws Exception {
        shape = new VersionedShape(JoinKind.INNER, hashes);
        flink = new EventTimeTemporalJoin(false);
        open(1, null);
        versions(List.of(new long[] {1, 10, 5, 0}, new long[] {1, 20, 15, 0}));
        versions(List.of(new long[] {7, 30, 5, 0}, new long[] {7, 40, 15, 0}));
        facts(List.of(new long[] {1, 100, 6}));
        watermark(7);
        // A new version moves the timer of key 7 to its time; key 1 has none.
        versions(List.of(new long[] {7, 50, 16, 0}));
        restore(2);
        // No fact of the key, and no new version: the version of 5 stays.
        watermark(20);
        facts(List.of(new long[] {1, 101, 8}, new long[] {7, 104, 8}));
        watermark(21);
        facts(List.of(new long[] {1, 102, 9}, new long[] {1, 103, 16}, new long[] {7, 105, 17}));
        watermark(22);
        collect();
        assertThat(results)
                .containsExactlyInAnyOrder("100|10", "101|10", "103|20", "105|50")
                .containsExactlyInAnyOrderElementsOf(flink.results());
    }

    @Test
    void shouldShowALateFactALateVersionThatPrecedesThatOfTheTable() throws Exception {
        shape = new VersionedShape(JoinKind.LEFT, 0);
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
