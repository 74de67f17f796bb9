// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.emit.ChunkRows;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.runtime.eventtime.EventTimeJoin;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.api.common.watermark.LongWatermark;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Facts, versions, watermarks, snapshots and restores in random order, against a look-up of all
 * versions of a key. Drawn from the seed in the test's display name.
 */
@ExtendWith(RegionLeakExtension.class)
class VersionedDimensionTest {

    private static final int MAX_PARALLELISM = JoinScenario.MAX_PARALLELISM;
    private static final int KEYS = 40;
    static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("number", ColumnType.INT64),
                    Column.of(RecordLayout.TIMESTAMP, ColumnType.INT64));
    static final ChunkSchema PRICES =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("value", ColumnType.INT64),
                    Column.of(RecordLayout.TIMESTAMP, ColumnType.INT64),
                    Column.of(RecordLayout.CHANGE, ColumnType.INT32));
    static final JoinSpec SPEC =
            new JoinSpec(
                    FACTS, List.of(new DimensionSpec("prices", PRICES, 0, 0, JoinKind.INNER, 3)));
    private static final OutputTag<Row> LATE_FACTS =
            new OutputTag<>("late-facts", ChunkRows.typeOf(FACTS));
    private static final OutputTag<Row> LATE_VERSIONS =
            new OutputTag<>("late-versions", ChunkRows.typeOf(PRICES));
    static final EventTimeJoin EVENT_TIME = new EventTimeJoin(0, 2, 2, LATE_FACTS, LATE_VERSIONS);

    /** Versions of each key by time; null for a deletion. */
    private final Map<Long, TreeMap<Long, Long>> versions = new HashMap<>();

    private final List<long[]> facts = new ArrayList<>();
    private final List<Long> expectedLateFacts = new ArrayList<>();
    private final List<Long> expectedLateVersions = new ArrayList<>();
    private final List<String> results = new ArrayList<>();
    private final List<Long> lateFacts = new ArrayList<>();
    private final List<Long> lateVersions = new ArrayList<>();
    private final List<JoinHarness> subtasks = new ArrayList<>();
    private StateBackend backend = new HashMapStateBackend();
    private Random random;
    private long number;
    private long factMark = Long.MIN_VALUE;
    private long versionMark = Long.MIN_VALUE;

    /** The largest watermark of both, whatever was restored since. */
    private long joinedUpTo = Long.MIN_VALUE;

    @AfterEach
    void closeSubtasks() throws Exception {
        IOUtils.closeAll(subtasks);
    }

    @ParameterizedTest(name = "seed={0} engine={1} RocksDB={2}")
    @CsvSource({
        "1,cpu,false",
        "2,cpu,true",
        "3,cpu,false",
        "4,cpu,true",
        "5,cpu,false",
        "6,cpu,false",
        "7,reference,true",
        "8,reference,false"
    })
    void shouldJoinEachFactWithTheVersionOfItsTime(long seed, String engine, boolean rocksDb)
            throws Exception {
        this.random = new Random(seed);
        this.backend = rocksDb ? new EmbeddedRocksDBStateBackend() : new HashMapStateBackend();
        JoinEngineFactory factory =
                engine.equals("cpu")
                        ? new CpuJoinEngineFactory()
                        : new ReferenceJoinEngineFactory();
        open(factory, 2, null);
        long now = 0;
        for (int step = 0; step < 300; step++) {
            now += random.nextInt(20);
            switch (random.nextInt(14)) {
                case 0 -> restore(factory, 1 + random.nextInt(4));
                case 1, 2 -> versionWatermark(Math.max(versionMark, now - random.nextInt(100)));
                case 3, 4 -> factWatermark(Math.max(factMark, now - random.nextInt(100)));
                case 5, 6, 7, 8 -> versions(random.nextInt(30), now);
                default -> facts(random.nextInt(30), now);
            }
        }
        versionWatermark(Long.MAX_VALUE);
        factWatermark(Long.MAX_VALUE);
        collect();
        assertThat(results).hasSizeGreaterThan(500).containsExactlyInAnyOrderElementsOf(expected());
        assertThat(lateFacts).isNotEmpty().containsExactlyInAnyOrderElementsOf(expectedLateFacts);
        assertThat(lateVersions)
                .isNotEmpty()
                .containsExactlyInAnyOrderElementsOf(expectedLateVersions);
    }

    @Test
    void shouldHoldRowsThatWaitInStateOnce() throws Exception {
        random = new Random(9);
        open(new CpuJoinEngineFactory(), 1, null);
        long[] bytes = new long[4];
        for (int i = 0; i < bytes.length; i++) {
            facts(2_000, 1_000);
            // every time the watermark stands within all chunks so far
            versionWatermark(900 + 10 * i);
            factWatermark(900 + 10 * i);
            bytes[i] = subtasks.get(0).snapshot(i, i).getStateSize();
        }
        assertThat(bytes[3]).isGreaterThan(bytes[0]).isLessThan(4 * bytes[0]);
        versionWatermark(Long.MAX_VALUE);
        factWatermark(Long.MAX_VALUE);
        assertThat(subtasks.get(0).snapshot(5, 5).getStateSize()).isLessThan(bytes[0] / 4);
    }

    @Test
    void shouldJoinRowsAfterADrainedSavepoint() throws Exception {
        JoinEngineFactory engine = new CpuJoinEngineFactory();
        open(engine, 1, null);
        JoinHarness drained = subtasks.get(0);
        drained.probeWatermark(30);
        drained.probe(chunk(PRICES, 0, List.of(new long[] {1, 10, 35, 0})));
        drained.probe(chunk(FACTS, -1, List.of(new long[] {1, 7, 36})));
        drained.probeWatermark(Long.MAX_VALUE);
        drained.endBuild();
        drained.endProbe();
        drained.finish();
        assertThat(drained.results()).containsExactly("7|10");
        restore(engine, 1);

        JoinHarness resumed = subtasks.get(0);
        resumed.probe(chunk(FACTS, -1, List.of(new long[] {1, 8, 30}, new long[] {1, 9, 40})));
        resumed.probeWatermark(50);
        resumed.runMails(Integer.MAX_VALUE);
        assertThat(resumed.results()).containsExactly("9|10");
        assertThat(resumed.getSideOutput(LATE_FACTS)).hasSize(1);
    }

    @Test
    void shouldPassAWatermarkOnBehindTheFactsBeforeIt() throws Exception {
        open(new CpuJoinEngineFactory(), 1, null);
        JoinHarness join = subtasks.get(0);
        join.probe(chunk(PRICES, 0, List.of(new long[] {1, 10, 5, 0}, new long[] {1, 20, 15, 0})));
        join.probe(chunk(FACTS, -1, List.of(new long[] {1, 7, 14}, new long[] {1, 8, 15})));
        join.runMails(Integer.MAX_VALUE);
        assertThat(join.getOutput()).isEmpty();
        join.probeWatermark(14);
        join.runMails(Integer.MAX_VALUE);
        assertThat(join.getOutput()).containsExactly(new StreamRecord<>("7|10"), new Watermark(14));
        join.probeWatermark(30);
        join.runMails(Integer.MAX_VALUE);
        assertThat(join.getOutput())
                .endsWith(new StreamRecord<>("8|20"), new Watermark(30))
                .hasSize(4);
    }

    @Test
    void shouldPassAUserWatermarkBehindTheRestoredFactsBeforeIt() throws Exception {
        open(new CpuJoinEngineFactory(), 1, null);
        subtasks.get(0).probe(chunk(PRICES, 0, List.of(new long[] {1, 10, 5, 0})));
        subtasks.get(0)
                .probe(chunk(FACTS, -1, List.of(new long[] {1, 7, 14}, new long[] {1, 8, 9})));
        restore(new CpuJoinEngineFactory(), 1);

        JoinHarness join = subtasks.get(0);
        WatermarkEvent mark = new WatermarkEvent(new LongWatermark(7, "user"), false);
        join.probeWatermark(mark);
        join.runMails(Integer.MAX_VALUE);
        assertThat(join.getOutput()).isEmpty();
        join.probeWatermark(14);
        join.runMails(Integer.MAX_VALUE);
        assertThat(join.results()).containsExactly("8|10", "7|10");
        assertThat(join.getOutput()).hasSize(4).element(3).isSameAs(mark);
    }

    @Test
    void shouldSayOfALateVersionWhetherItIsADeletion() throws Exception {
        open(new CpuJoinEngineFactory(), 1, null);
        JoinHarness join = subtasks.get(0);
        join.probeWatermark(30);
        join.probe(chunk(PRICES, 0, List.of(new long[] {1, 10, 30, RowChange.DELETE.code()})));
        Row late = join.getSideOutput(LATE_VERSIONS).remove().getValue();
        assertThat(late.getKind()).isEqualTo(RowKind.DELETE);
        assertThat(late.getFieldNames(true)).containsExactly("id", "value", "$timestamp");
        assertThat(late.<Long>getFieldAs("$timestamp")).isEqualTo(30);
    }

    @Test
    void shouldRefuseFactsWithoutATimestamp() throws Exception {
        open(new CpuJoinEngineFactory(), 1, null);
        Chunk untimed = chunk(FACTS, -1, List.of(new long[] {1, 7, Long.MIN_VALUE}));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> subtasks.get(0).probe(untimed))
                .withMessageContaining("have a timestamp");
    }

    private List<String> expected() {
        List<String> expected = new ArrayList<>();
        for (long[] fact : facts) {
            Map.Entry<Long, Long> valid =
                    versions.getOrDefault(fact[0], new TreeMap<>()).floorEntry(fact[2]);
            if (valid != null && valid.getValue() != null) {
                expected.add(fact[1] + "|" + valid.getValue());
            }
        }
        return expected;
    }

    private void open(JoinEngineFactory engine, int parallelism, OperatorSubtaskState state)
            throws Exception {
        int before = Math.max(1, subtasks.size());
        IOUtils.closeAll(subtasks);
        subtasks.clear();
        for (int i = 0; i < parallelism; i++) {
            StarJoinOperatorFactory<String> operator =
                    new StarJoinOperatorFactory<>(
                            JoinScenario.settings(
                                    SPEC,
                                    EngineSelection.only(engine),
                                    1_000,
                                    EVENT_TIME,
                                    TimesToLive.NONE),
                            context -> new JoinScenario.TextEmitter());
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

    private void restore(JoinEngineFactory engine, int parallelism) throws Exception {
        List<OperatorSubtaskState> states = new ArrayList<>();
        for (JoinHarness subtask : subtasks) {
            subtask.barrier(1);
            states.add(subtask.snapshot(1, 1));
        }
        collect();
        open(
                engine,
                parallelism,
                AbstractStreamOperatorTestHarness.repackageState(
                        states.toArray(OperatorSubtaskState[]::new)));
        // no watermark is repeated, but what was late before is late all the same
        versionMark = Long.MIN_VALUE;
        factMark = Long.MIN_VALUE;
    }

    private void collect() throws Exception {
        for (JoinHarness subtask : subtasks) {
            results.addAll(subtask.results());
            subtask.getOutput().clear();
            drain(subtask.getSideOutput(LATE_FACTS), "number", lateFacts);
            drain(subtask.getSideOutput(LATE_VERSIONS), "value", lateVersions);
        }
    }

    private static void drain(Queue<StreamRecord<Row>> late, String column, List<Long> into) {
        while (late != null && !late.isEmpty()) {
            into.add(late.remove().getValue().getFieldAs(column));
        }
    }

    private void versionWatermark(long timestamp) throws Exception {
        versionMark = timestamp;
        watermark();
    }

    private void factWatermark(long timestamp) throws Exception {
        factMark = timestamp;
        watermark();
    }

    /** Both streams come by one input, which has the lesser of their watermarks. */
    private void watermark() throws Exception {
        long mark = Math.min(factMark, versionMark);
        joinedUpTo = Math.max(joinedUpTo, mark);
        for (JoinHarness subtask : subtasks) {
            subtask.probeWatermark(mark);
            subtask.runMails(Integer.MAX_VALUE);
        }
    }

    private void versions(int count, long now) throws Exception {
        List<long[]> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long id = random.nextInt(KEYS);
            long value = ++number;
            long time = now - random.nextInt(120);
            boolean deletes = random.nextInt(4) == 0;
            RowChange change = deletes ? RowChange.DELETE : RowChange.UPSERT;
            rows.add(new long[] {id, value, time, change.code()});
            if (time <= joinedUpTo) {
                expectedLateVersions.add(value);
            } else {
                versions.computeIfAbsent(id, k -> new TreeMap<>())
                        .put(time, deletes ? null : value);
            }
        }
        for (Map.Entry<Integer, List<long[]>> entry : byPartition(rows).entrySet()) {
            owner(entry.getKey()).probe(chunk(PRICES, 0, entry.getValue()));
        }
    }

    private void facts(int count, long now) throws Exception {
        List<long[]> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long[] fact = {random.nextInt(KEYS + 5), ++number, now - random.nextInt(120)};
            rows.add(fact);
            if (fact[2] <= joinedUpTo) {
                expectedLateFacts.add(fact[1]);
            } else {
                facts.add(fact);
            }
        }
        for (Map.Entry<Integer, List<long[]>> entry : byPartition(rows).entrySet()) {
            owner(entry.getKey()).probe(chunk(FACTS, ChunkDescriptor.FACTS, entry.getValue()));
        }
    }

    private static int partition(long key) {
        return KeyHash.partition(KeyHash.hash(key), MAX_PARALLELISM);
    }

    private static Map<Integer, List<long[]>> byPartition(List<long[]> rows) {
        Map<Integer, List<long[]>> partitions = new TreeMap<>();
        for (long[] row : rows) {
            partitions.computeIfAbsent(partition(row[0]), p -> new ArrayList<>()).add(row);
        }
        return partitions;
    }

    private JoinHarness owner(int partition) {
        return subtasks.get(
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        MAX_PARALLELISM, subtasks.size(), partition));
    }

    /** Rows of one partition. */
    static Chunk chunk(ChunkSchema schema, int dimension, List<long[]> rows) {
        ChunkBuilder builder = new ChunkBuilder(schema, 64 * rows.size());
        for (long[] row : rows) {
            for (int i = 0; i < 3; i++) {
                builder.putLong(i, row[i]);
            }
            if (row.length > 3) {
                builder.putInt(3, (int) row[3]);
            }
            builder.endRow();
        }
        return builder.seal(dimension, partition(rows.get(0)[0]), 0, 0);
    }
}
