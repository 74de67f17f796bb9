// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
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
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.LoadMark.Status;
import io.github.gpujoin.flink.runtime.expiry.DimensionTtl;
import io.github.gpujoin.flink.state.PartitionKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Subtasks of the log of replicated dimensions: 0, whose rows stay, and 1, which changes. */
class ReplicaOperatorTest {

    private static final int MAX_PARALLELISM = JoinScenario.MAX_PARALLELISM;
    private static final int ROWS = 0;
    private static final int CHANGES = 1;
    private static final long TTL_MS = 1_000;
    private static final ChunkSchema FACTS = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("value", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32));
    private static final JoinSpec SPEC =
            new JoinSpec(
                    FACTS,
                    List.of(
                            new DimensionSpec("rows", SCHEMA, 0, 0, JoinKind.INNER),
                            new DimensionSpec("changes", SCHEMA, 0, 0, JoinKind.INNER, 2)));

    private final List<ReplicaSubtask> subtasks = new ArrayList<>();
    private final List<DimensionTtl> ttls = new ArrayList<>();
    private StateBackend backend = new HashMapStateBackend();
    private long sequence;

    @AfterEach
    void close() throws Exception {
        IOUtils.closeAll(subtasks);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void shouldHoldOneCopyInACheckpointWhateverTheParallelism(int parallelism) throws Exception {
        open(parallelism, null);
        Random random = new Random(14);
        long chunkBytes = 0;
        for (int i = 0; i < 200; i++) {
            Chunk chunk = chunk(ROWS, ChunkDescriptor.UNPARTITIONED, incompressible(100, random));
            chunkBytes += chunk.lengthBytes();
            process(chunk);
        }
        long stateBytes = 0;
        for (ReplicaSubtask subtask : subtasks) {
            stateBytes += subtask.snapshot(1, 1).getStateSize();
        }
        assertThat(stateBytes).isBetween(chunkBytes, chunkBytes + chunkBytes / 10);
    }

    @ParameterizedTest(name = "from {0} to {1} subtasks, rocksdb={2}")
    @CsvSource({"1,3,false", "3,2,false", "4,4,true", "4,1,true"})
    void shouldReplayEachChunkOnceInAnyParallelism(int from, int to, boolean rocksDb)
            throws Exception {
        backend = rocksDb ? new EmbeddedRocksDBStateBackend() : backend;
        open(from, null);
        for (int i = 0; i < 50; i++) {
            process(chunk(ROWS, ChunkDescriptor.UNPARTITIONED, rows(10, i * 10)));
        }
        complete();
        restore(to);
        runAll();
        assertThat(replicatedRows()).containsExactlyElementsOf(idsBelow(500));
        for (ReplicaSubtask subtask : subtasks) {
            assertThat(completeMarks(subtask)).containsExactlyInAnyOrder(ROWS, CHANGES);
        }
    }

    /** The join would otherwise start on half a dimension. */
    @Test
    void shouldMarkADimensionCompleteBehindItsReplayOnly() throws Exception {
        open(2, null);
        for (int i = 0; i < 20; i++) {
            process(chunk(ROWS, ChunkDescriptor.UNPARTITIONED, rows(10, i * 10)));
        }
        complete();
        restore(2);
        for (ReplicaSubtask subtask : subtasks) {
            assertThat(completeMarks(subtask)).isEmpty();
            subtask.runMails(Integer.MAX_VALUE);
            List<Chunk> emitted = emitted(subtask);
            int firstMark = 0;
            while (!LoadMark.isMark(emitted.get(firstMark))) {
                firstMark++;
            }
            assertThat(emitted.subList(firstMark, emitted.size())).allMatch(LoadMark::isMark);
        }
    }

    /** A snapshot of release 0.1.0 has no log; its sources may have ended for good. */
    @Test
    void shouldCompleteAtTheEndOfInputsAfterTheSecondRestoreFromAnEarlierRelease()
            throws Exception {
        open(2, OperatorSubtaskState.builder().build());
        runAll();
        restore(2);
        runAll();
        for (ReplicaSubtask subtask : subtasks) {
            assertThat(completeMarks(subtask)).isEmpty();
            subtask.processWatermark(Watermark.MAX_WATERMARK);
            assertThat(completeMarks(subtask)).containsExactlyInAnyOrder(ROWS, CHANGES);
        }
        restore(1);
        runAll();
        assertThat(completeMarks(subtasks.get(0))).containsExactlyInAnyOrder(ROWS, CHANGES);
    }

    /** Snapshots at random, most in the middle of a replay, and rescalings; from the seed. */
    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldReplayTheLastChangeOfEachKey(long seed) throws Exception {
        Random random = new Random(seed);
        Map<Long, Long> expected = new TreeMap<>();
        open(2, null);
        runAll();
        for (int step = 0; step < 120; step++) {
            if (random.nextInt(6) == 0) {
                restore(1 + random.nextInt(4));
                int mails = random.nextInt(3);
                for (ReplicaSubtask subtask : subtasks) {
                    subtask.runMails(mails);
                }
            }
            change(random, expected, 1 + random.nextInt(200));
        }
        runAll();
        assertThat(live(subtasks)).isEqualTo(expected);
        restore(3);
        runAll();
        assertThat(live(subtasks)).isEqualTo(expected);
    }

    @Test
    void shouldKeepNoMoreInStateThanTheLiveRowsOfAChangingDimension() throws Exception {
        Random random = new Random(7);
        Map<Long, Long> expected = new TreeMap<>();
        open(1, null);
        runAll();
        for (int i = 0; i < 200; i++) {
            change(random, expected, 2_000);
        }
        assertThat(subtasks.get(0).snapshot(1, 1).getStateSize()).isLessThan(200L * 2_000 * 20 / 2);
    }

    @Test
    void shouldDeleteExpiredRowsInTheJoinOnceTheyWereReplayed() throws Exception {
        ttls.add(new DimensionTtl(CHANGES, 1, TTL_MS, true));
        open(1, null);
        runAll();
        subtasks.get(0).setProcessingTime(1);
        process(change(5, 0, RowChange.UPSERT));
        assertThat(live(subtasks)).containsOnlyKeys(5L);
        for (long now = 1; now <= 2 * TTL_MS; now += TTL_MS / 20) {
            subtasks.get(0).setProcessingTime(now);
            runAll();
        }
        assertThat(live(subtasks)).isEmpty();
        restore(1);
        runAll();
        assertThat(replicatedRows()).isEmpty();
    }

    // ------------------------------------------------------------------ set-up

    private void open(int parallelism, OperatorSubtaskState state) throws Exception {
        int before = Math.max(1, subtasks.size());
        IOUtils.closeAll(subtasks);
        subtasks.clear();
        for (int i = 0; i < parallelism; i++) {
            ReplicaSubtask subtask = new ReplicaSubtask(SPEC, ttls, parallelism, i);
            subtask.setStateBackend(backend);
            subtasks.add(subtask);
            if (state == null) {
                subtask.initializeEmptyState();
            } else {
                subtask.initializeState(
                        AbstractStreamOperatorTestHarness.repartitionOperatorState(
                                state, MAX_PARALLELISM, before, parallelism, i));
            }
            subtask.open();
        }
    }

    private void restore(int parallelism) throws Exception {
        List<OperatorSubtaskState> states = new ArrayList<>();
        for (ReplicaSubtask subtask : subtasks) {
            states.add(subtask.snapshot(1, 1));
        }
        open(
                parallelism,
                AbstractStreamOperatorTestHarness.repackageState(
                        states.toArray(OperatorSubtaskState[]::new)));
    }

    private void runAll() throws Exception {
        for (ReplicaSubtask subtask : subtasks) {
            subtask.runMails(Integer.MAX_VALUE);
        }
    }

    /** Sends a chunk to the subtask that Flink sends it to. */
    private void process(Chunk chunk) throws Exception {
        int owner =
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        MAX_PARALLELISM,
                        subtasks.size(),
                        PartitionKeys.partitionOf(chunk, MAX_PARALLELISM));
        subtasks.get(owner).processElement(new StreamRecord<>(chunk));
    }

    /** Both dimensions have one source subtask, which marks each partition. */
    private void complete() throws Exception {
        for (int dimension : List.of(ROWS, CHANGES)) {
            for (int p = 0; p < MAX_PARALLELISM; p++) {
                process(new LoadMark(dimension, p, 0, 1, Status.COMPLETE).toChunk(SCHEMA));
            }
        }
        runAll();
    }

    private void change(Random random, Map<Long, Long> expected, int count) throws Exception {
        Map<Integer, List<long[]>> byPartition = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            long id = random.nextInt(60);
            long value = ++sequence;
            boolean deletes = random.nextInt(4) == 0;
            if (deletes) {
                expected.remove(id);
            } else {
                expected.put(id, value);
            }
            RowChange change = deletes ? RowChange.DELETE : RowChange.UPSERT;
            byPartition
                    .computeIfAbsent(partition(id), p -> new ArrayList<>())
                    .add(new long[] {id, value, change.code()});
        }
        for (Map.Entry<Integer, List<long[]>> entry : byPartition.entrySet()) {
            process(chunk(CHANGES, entry.getKey(), entry.getValue()));
        }
    }

    private Chunk change(long id, long value, RowChange change) {
        return chunk(CHANGES, partition(id), List.of(new long[] {id, value, change.code()}));
    }

    private static int partition(long id) {
        return KeyHash.partition(KeyHash.hash(id), MAX_PARALLELISM);
    }

    /**
     * Rows that no encoding shortens by an eighth, so that the log keeps their chunks as they are.
     */
    private static List<long[]> incompressible(int count, Random random) {
        return Stream.generate(
                        () -> new long[] {random.nextLong(), random.nextLong(), random.nextInt()})
                .limit(count)
                .toList();
    }

    private static List<long[]> rows(int count, long firstId) {
        List<long[]> rows = new ArrayList<>();
        for (long id = firstId; id < firstId + count; id++) {
            rows.add(new long[] {id, id, RowChange.UPSERT.code()});
        }
        return rows;
    }

    private Chunk chunk(int dimension, int partition, List<long[]> rows) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 64 * rows.size());
        for (long[] row : rows) {
            builder.putLong(0, row[0]);
            builder.putLong(1, row[1]);
            builder.putInt(2, (int) row[2]);
            builder.endRow();
        }
        return builder.seal(dimension, partition, 0, sequence++);
    }

    // ------------------------------------------------------------------ what came out

    private static List<Chunk> emitted(ReplicaSubtask subtask) {
        return subtask.extractOutputValues();
    }

    private static List<Integer> completeMarks(ReplicaSubtask subtask) {
        return emitted(subtask).stream()
                .filter(LoadMark::isMark)
                .map(LoadMark::of)
                .filter(mark -> mark.status() == Status.COMPLETE)
                .map(LoadMark::dimension)
                .toList();
    }

    /** Ids of the dimension that does not change, sorted. */
    private List<Long> replicatedRows() {
        List<Long> ids = new ArrayList<>();
        for (ReplicaSubtask subtask : subtasks) {
            for (Chunk chunk : emitted(subtask)) {
                for (int row = 0; row < chunk.rowCount(); row++) {
                    ids.add(chunk.getLong(0, row));
                }
            }
        }
        ids.sort(null);
        return ids;
    }

    private static List<Long> idsBelow(long end) {
        List<Long> ids = new ArrayList<>();
        for (long id = 0; id < end; id++) {
            ids.add(id);
        }
        return ids;
    }

    /** Rows that a table has once it applied all that was emitted. */
    private static Map<Long, Long> live(List<ReplicaSubtask> subtasks) {
        Map<Long, Long> live = new TreeMap<>();
        for (ReplicaSubtask subtask : subtasks) {
            for (Chunk chunk : emitted(subtask)) {
                assertThat(chunk.partition()).isEqualTo(ChunkDescriptor.UNPARTITIONED);
                for (int row = 0; row < chunk.rowCount(); row++) {
                    long id = chunk.getLong(0, row);
                    if (RowChange.of(chunk.getInt(2, row)) == RowChange.UPSERT) {
                        live.put(id, chunk.getLong(1, row));
                    } else {
                        live.remove(id);
                    }
                }
            }
        }
        return live;
    }
}
