// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
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
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.types.Row;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.OutputTag;

/**
 * Random facts and versions of prices, sent to subtasks of a join, with the results and late rows
 * that must follow.
 */
final class VersionedScenario implements AutoCloseable {

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
    private static final VersionedShape INTEGERS = new VersionedShape(JoinKind.INNER, 0);
    static final JoinSpec SPEC = INTEGERS.spec();
    static final OutputTag<Row> LATE_FACTS = new OutputTag<>("late-facts", ChunkRows.typeOf(FACTS));
    static final OutputTag<Row> LATE_VERSIONS =
            new OutputTag<>("late-versions", ChunkRows.typeOf(PRICES));
    static final EventTimeJoin EVENT_TIME = INTEGERS.eventTime(false);

    /** Versions of each key by time. Null is a deletion. */
    private final Map<Long, TreeMap<Long, Long>> versionsOfKeys = new HashMap<>();

    private final Random random;
    private final StateBackend backend;
    private final VersionedShape shape;
    private final List<long[]> factRows = new ArrayList<>();
    final List<Long> expectedLateFacts = new ArrayList<>();
    final List<Long> expectedLateVersions = new ArrayList<>();
    final List<String> results = new ArrayList<>();
    final List<Long> lateFacts = new ArrayList<>();
    final List<Long> lateVersions = new ArrayList<>();
    private final List<JoinHarness> subtasks = new ArrayList<>();
    private long number;
    long factMark = Long.MIN_VALUE;
    long versionMark = Long.MIN_VALUE;

    /** Largest joint watermark so far; a restore keeps it. */
    private long joinedUpTo = Long.MIN_VALUE;

    VersionedScenario(Random random, StateBackend backend) {
        this(random, backend, 0);
    }

    /**
     * @param hashes how many hashes the keys have, which are texts then; 0 if they are integers
     */
    VersionedScenario(Random random, StateBackend backend, int hashes) {
        this.shape = new VersionedShape(JoinKind.INNER, hashes);
        this.random = random;
        this.backend = backend;
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(subtasks);
    }

    JoinHarness subtask(int index) {
        return subtasks.get(index);
    }

    /** Returns the results of a look-up of each fact in all versions of its key. */
    List<String> expected() {
        List<String> expected = new ArrayList<>();
        for (long[] fact : factRows) {
            Map.Entry<Long, Long> valid =
                    versionsOfKeys.getOrDefault(fact[0], new TreeMap<>()).floorEntry(fact[2]);
            if (valid != null && valid.getValue() != null) {
                expected.add(fact[1] + "|" + valid.getValue());
            }
        }
        return expected;
    }

    void open(JoinEngineFactory engine, int parallelism, OperatorSubtaskState state)
            throws Exception {
        int before = Math.max(1, subtasks.size());
        IOUtils.closeAll(subtasks);
        subtasks.clear();
        for (int i = 0; i < parallelism; i++) {
            StarJoinOperatorFactory<String> operator =
                    new StarJoinOperatorFactory<>(
                            JoinScenario.settings(
                                    shape.spec(),
                                    EngineSelection.only(engine),
                                    1_000,
                                    shape.eventTime(false),
                                    TimesToLive.NONE),
                            shape.emitter(new TextEmitter()));
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

    void restore(JoinEngineFactory engine, int parallelism) throws Exception {
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
        // watermarks start anew, yet late rows stay late
        versionMark = Long.MIN_VALUE;
        factMark = Long.MIN_VALUE;
    }

    void collect() throws Exception {
        for (JoinHarness subtask : subtasks) {
            results.addAll(subtask.results());
            subtask.getOutput().clear();
            drain(subtask.getSideOutput(LATE_FACTS), "number", lateFacts);
            drain(subtask.getSideOutput(LATE_VERSIONS), "value", lateVersions);
        }
    }

    static void drain(Queue<StreamRecord<Row>> late, String column, List<Long> into) {
        while (late != null && !late.isEmpty()) {
            into.add(late.remove().getValue().getFieldAs(column));
        }
    }

    void versionWatermark(long timestamp) throws Exception {
        versionMark = timestamp;
        watermark();
    }

    void factWatermark(long timestamp) throws Exception {
        factMark = timestamp;
        watermark();
    }

    /** Both streams share an input, whose watermark is the smaller of theirs. */
    void watermark() throws Exception {
        long mark = Math.min(factMark, versionMark);
        joinedUpTo = Math.max(joinedUpTo, mark);
        for (JoinHarness subtask : subtasks) {
            subtask.probeWatermark(mark);
            subtask.runMails(Integer.MAX_VALUE);
        }
    }

    void versions(int count, long now) throws Exception {
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
                versionsOfKeys
                        .computeIfAbsent(id, k -> new TreeMap<>())
                        .put(time, deletes ? null : value);
            }
        }
        for (Chunk chunk : shape.versions(rows)) {
            owner(chunk.partition()).probe(chunk);
        }
    }

    void facts(int count, long now) throws Exception {
        List<long[]> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long[] fact = {random.nextInt(KEYS + 5), ++number, now - random.nextInt(120)};
            rows.add(fact);
            if (fact[2] <= joinedUpTo) {
                expectedLateFacts.add(fact[1]);
            } else {
                factRows.add(fact);
            }
        }
        for (Chunk chunk : shape.facts(rows)) {
            owner(chunk.partition()).probe(chunk);
        }
    }

    static int partition(long key) {
        return KeyHash.partition(KeyHash.hash(key), MAX_PARALLELISM);
    }

    JoinHarness owner(int partition) {
        return subtasks.get(
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        MAX_PARALLELISM, subtasks.size(), partition));
    }

    /** Returns a chunk of rows of one partition. */
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
