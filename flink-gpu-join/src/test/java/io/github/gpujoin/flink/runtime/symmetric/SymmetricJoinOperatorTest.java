// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.reference.ReferenceSymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.CpuSymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.IndexedSymmetricJoinFactory;
import io.github.gpujoin.kernels.gpu.GpuMatchIndexFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;

/** Barriers, watermarks, time to live, memory and restores of the operator. */
class SymmetricJoinOperatorTest {

    private static final long FOREVER = SymmetricInput.FOREVER;

    /** More results than a turn can emit. */
    private static final int LEFT_ROWS = 20_000;

    private static final int RIGHT_ROWS = 20;

    private static RegularJoinShape appended(BulkJoinKind kind, long leftTtlMs, long rightTtlMs) {
        return shape(kind, RowIdentity.APPEND_ONLY, RowIdentity.APPEND_ONLY, leftTtlMs, rightTtlMs);
    }

    private static RegularJoinShape shape(
            BulkJoinKind kind,
            RowIdentity left,
            RowIdentity right,
            long leftTtlMs,
            long rightTtlMs) {
        return new RegularJoinShape(
                kind,
                left,
                right,
                false,
                null,
                leftTtlMs,
                rightTtlMs,
                List.of(new ReferenceSymmetricJoinFactory()),
                0);
    }

    private static void insert(
            SymmetricHarness harness, RegularJoinShape shape, JoinSide side, int key, int id)
            throws Exception {
        change(harness, shape, side, RowKind.INSERT, key, id);
    }

    private static void change(
            SymmetricHarness harness,
            RegularJoinShape shape,
            JoinSide side,
            RowKind kind,
            int key,
            int id)
            throws Exception {
        harness.accept(side, shape.chunk(side, shape.row(kind, key, id, "note")));
    }

    // ------------------------------------------------------------------ engines

    /** Where there is no GPU, the CPU joins. */
    @Test
    void shouldJoinWithAGpuOrWithout() throws Exception {
        List<SymmetricJoinFactory> engines =
                List.of(
                        new IndexedSymmetricJoinFactory(
                                new GpuMatchIndexFactory(GpuOptions.defaults())),
                        new CpuSymmetricJoinFactory());
        RegularJoinShape shape =
                new RegularJoinShape(
                        BulkJoinKind.LEFT,
                        RowIdentity.APPEND_ONLY,
                        RowIdentity.MULTISET,
                        true,
                        null,
                        FOREVER,
                        FOREVER,
                        InstantiationUtil.clone(new ArrayList<>(engines)),
                        0);
        try (SymmetricHarness harness = SymmetricHarness.open(shape, 1, 0, null)) {
            for (int key = 0; key < 10; key++) {
                insert(harness, shape, JoinSide.LEFT, key, key);
                insert(harness, shape, JoinSide.RIGHT, key, key);
                change(harness, shape, JoinSide.RIGHT, RowKind.DELETE, key, key);
            }
            assertThat(harness.takeResults()).hasSize(10 * 5);
        }
    }

    // ------------------------------------------------------------------ barriers

    private static SymmetricHarness withFanOut(RegularJoinShape shape) throws Exception {
        SymmetricHarness harness = SymmetricHarness.open(shape, 1, 0, null);
        List<RowData> left = new ArrayList<>();
        for (int id = 0; id < LEFT_ROWS; id++) {
            left.add(shape.row(RowKind.INSERT, 7, id, "left"));
        }
        harness.accept(JoinSide.LEFT, shape.chunks(JoinSide.LEFT, left).get(0));
        harness.runMails();
        List<RowData> right = new ArrayList<>();
        for (int id = 0; id < RIGHT_ROWS; id++) {
            right.add(shape.row(RowKind.INSERT, 7, id, "right"));
        }
        harness.accept(JoinSide.RIGHT, shape.chunks(JoinSide.RIGHT, right).get(0));
        return harness;
    }

    @Test
    void shouldEmitEachResultOnceIfABarrierDividesAChunk() throws Exception {
        RegularJoinShape shape = appended(BulkJoinKind.INNER, FOREVER, FOREVER);
        OperatorSubtaskState state;
        Set<Long> pairs = new HashSet<>();
        try (SymmetricHarness harness = withFanOut(shape)) {
            state = harness.checkpoint(1);
            List<RowData> before = harness.takeResults();
            assertThat(before).hasSizeBetween(LEFT_ROWS, (RIGHT_ROWS - 1) * LEFT_ROWS);
            assertThat(before.size() % LEFT_ROWS).as("whole rows").isZero();
            addPairs(before, pairs);
        }
        try (SymmetricHarness restored = SymmetricHarness.open(shape, 1, 0, state)) {
            restored.runMails();
            addPairs(restored.takeResults(), pairs);
            assertThat(pairs).hasSize(LEFT_ROWS * RIGHT_ROWS);
            insert(restored, shape, JoinSide.LEFT, 7, LEFT_ROWS);
            assertThat(restored.takeResults()).hasSize(RIGHT_ROWS);
        }
    }

    private static void addPairs(List<RowData> results, Set<Long> pairs) {
        for (RowData row : results) {
            long pair = (long) row.getInt(1) << Integer.SIZE | row.getInt(4);
            assertThat(pairs.add(pair)).as("pair is new").isTrue();
        }
    }

    @Test
    void shouldKeepWatermarksAndStatusesBehindResults() throws Exception {
        RegularJoinShape shape = appended(BulkJoinKind.INNER, FOREVER, FOREVER);
        try (SymmetricHarness harness = withFanOut(shape)) {
            harness.watermark(JoinSide.LEFT, 5);
            harness.watermark(JoinSide.RIGHT, 3);
            harness.status(JoinSide.LEFT, WatermarkStatus.IDLE);
            harness.status(JoinSide.RIGHT, WatermarkStatus.IDLE);
            assertThat(harness.getOutput()).allMatch(StreamRecord.class::isInstance);
            harness.runMails();
            List<Object> output = new ArrayList<>(harness.getOutput());
            assertThat(output).hasSize(LEFT_ROWS * RIGHT_ROWS + 2);
            assertThat(output.subList(output.size() - 2, output.size()))
                    .containsExactly(new Watermark(5), WatermarkStatus.IDLE);
        }
    }

    @Test
    void shouldEmitAllResultsBeforeItFinishes() throws Exception {
        RegularJoinShape shape = appended(BulkJoinKind.INNER, FOREVER, FOREVER);
        try (SymmetricHarness harness = withFanOut(shape)) {
            harness.finish();
            assertThat(harness.takeResults()).hasSize(LEFT_ROWS * RIGHT_ROWS);
        }
    }

    @Test
    void shouldForwardTheSmallerWatermarkOfBothInputs() throws Exception {
        RegularJoinShape shape = appended(BulkJoinKind.INNER, FOREVER, FOREVER);
        try (SymmetricHarness harness = SymmetricHarness.open(shape, 1, 0, null)) {
            harness.watermark(JoinSide.LEFT, 10);
            assertThat(harness.getOutput()).isEmpty();
            harness.watermark(JoinSide.RIGHT, 4);
            harness.status(JoinSide.RIGHT, WatermarkStatus.IDLE);
            assertThat(harness.getOutput()).containsExactly(new Watermark(4), new Watermark(10));
        }
    }

    // ------------------------------------------------------------------ time to live

    @Test
    void shouldNotMatchRowsWhoseTimeToLiveHasPassed() throws Exception {
        RegularJoinShape shape = appended(BulkJoinKind.INNER, 1_000, FOREVER);
        OperatorSubtaskState state;
        try (SymmetricHarness harness = SymmetricHarness.open(shape, 1, 0, null)) {
            harness.setProcessingTime(500);
            insert(harness, shape, JoinSide.LEFT, 1, 1);
            harness.setProcessingTime(1_000);
            insert(harness, shape, JoinSide.LEFT, 1, 2);
            insert(harness, shape, JoinSide.RIGHT, 1, 1);
            assertThat(harness.takeResults()).hasSize(2);
            harness.setProcessingTime(1_600);
            insert(harness, shape, JoinSide.RIGHT, 1, 2);
            assertThat(harness.takeResults()).hasSize(1);
            state = harness.checkpoint(1);
        }
        try (SymmetricHarness restored = SymmetricHarness.of(shape, 1, 0, 64 << 20)) {
            restored.setProcessingTime(1_600);
            restored.initializeState(state);
            restored.open();
            insert(restored, shape, JoinSide.RIGHT, 1, 3);
            assertThat(restored.takeResults()).as("the younger left row").hasSize(1);
            restored.setProcessingTime(2_100);
            insert(restored, shape, JoinSide.RIGHT, 1, 4);
            insert(restored, shape, JoinSide.LEFT, 1, 3);
            assertThat(restored.takeResults()).as("right rows stay").hasSize(4);
        }
    }

    // ------------------------------------------------------------------ log

    @Test
    void shouldRewriteALogThatIsMostlyRetracted() throws Exception {
        RegularJoinShape shape =
                shape(
                        BulkJoinKind.INNER,
                        RowIdentity.UNIQUE_COLUMNS,
                        RowIdentity.APPEND_ONLY,
                        FOREVER,
                        FOREVER);
        int updates = 60_000;
        OperatorSubtaskState state;
        try (SymmetricHarness harness = SymmetricHarness.open(shape, 1, 0, null)) {
            for (int start = 0; start < updates; start += 1_000) {
                List<RowData> rows = new ArrayList<>();
                for (int i = start; i < start + 1_000; i++) {
                    rows.add(shape.row(RowKind.UPDATE_AFTER, i % 10, i % 10, "note " + i));
                }
                for (var chunk : shape.chunks(JoinSide.LEFT, rows)) {
                    harness.accept(JoinSide.LEFT, chunk);
                }
                harness.runMails();
            }
            state = harness.checkpoint(1);
        }
        assertThat(state.getStateSize())
                .as("bytes of less than half of the updates")
                .isLessThan(updates / 2 * 60L);
        try (SymmetricHarness restored = SymmetricHarness.open(shape, 1, 0, state)) {
            insert(restored, shape, JoinSide.RIGHT, 3, 1);
            List<RowData> results = restored.takeResults();
            assertThat(results).hasSize(1);
            assertThat(results.get(0).getString(2)).hasToString("note " + (updates - 7));
        }
    }

    @Test
    void shouldMergeLoggedChunksOfFewRows() throws Exception {
        RegularJoinShape shape = appended(BulkJoinKind.INNER, FOREVER, FOREVER);
        int rows = 10_000;
        OperatorSubtaskState state;
        try (SymmetricHarness harness = SymmetricHarness.open(shape, 1, 0, null)) {
            for (int id = 0; id < rows; id++) {
                insert(harness, shape, JoinSide.LEFT, id % 10, id);
            }
            harness.runMails();
            state = harness.checkpoint(1);
        }
        int headerBytes = 64;
        assertThat(state.getStateSize())
                .as("bytes of less than one header a row")
                .isLessThan((headerBytes + 60L) * rows);
        try (SymmetricHarness restored = SymmetricHarness.open(shape, 1, 0, state)) {
            insert(restored, shape, JoinSide.RIGHT, 3, 1);
            assertThat(restored.takeResults()).hasSize(rows / 10);
        }
    }

    // ------------------------------------------------------------------ memory

    private static final int SPILL_DELAY_MS = 60_000;
    private static final int KEYS = 100;

    private static final int LARGE_PARTITION = 3;
    private static final int LARGE_KEYS = 140_000;
    private static final int SMALL_KEYS = 14_000;

    /**
     * Returns a join with one match for each key, some of whose partitions were spilled amid it.
     */
    private static SymmetricHarness withSpilledPartitions(RegularJoinShape shape) throws Exception {
        RefusedMemory.reset(7);
        SymmetricHarness harness = SymmetricHarness.open(shape, 1, 0, null);
        for (JoinSide side : JoinSide.values()) {
            for (int key = 0; key < KEYS; key++) {
                insert(harness, shape, side, key, key);
            }
        }
        assertThat(RefusedMemory.refusals()).isPositive();
        harness.watermark(JoinSide.LEFT, 5);
        harness.watermark(JoinSide.RIGHT, 5);
        harness.runMails();
        return harness;
    }

    private static RegularJoinShape spilling() {
        return spilling(new RefusedMemory(new ReferenceSymmetricJoinFactory()));
    }

    private static RegularJoinShape spilling(SymmetricJoinFactory joins) {
        return new RegularJoinShape(
                BulkJoinKind.INNER,
                RowIdentity.APPEND_ONLY,
                RowIdentity.APPEND_ONLY,
                false,
                null,
                FOREVER,
                FOREVER,
                List.of(joins),
                SPILL_DELAY_MS);
    }

    @Test
    void shouldJoinDeferredRowsAfterTheDelayAndBeforeTheirWatermark() throws Exception {
        try (SymmetricHarness harness = withSpilledPartitions(spilling())) {
            assertThat(harness.getOutput())
                    .hasSizeLessThan(KEYS)
                    .allMatch(StreamRecord.class::isInstance);
            harness.setProcessingTime(SPILL_DELAY_MS);
            harness.runMails();
            List<Object> output = new ArrayList<>(harness.getOutput());
            assertThat(output).hasSize(KEYS + 1);
            assertThat(output.get(KEYS)).isEqualTo(new Watermark(5));
        }
    }

    /** A round joins the deferred rows of one partition in each mail. */
    @Test
    void shouldEmitAWatermarkThatArrivesAmidARoundIfNoRowFollows() throws Exception {
        try (SymmetricHarness harness = withSpilledPartitions(spilling())) {
            harness.setProcessingTime(SPILL_DELAY_MS);
            harness.runMail();
            assertThat(harness.getOutput()).as("the round").doesNotContain(new Watermark(5));
            harness.watermark(JoinSide.LEFT, 6);
            harness.watermark(JoinSide.RIGHT, 6);
            harness.runMails();
            harness.setProcessingTime(2 * SPILL_DELAY_MS);
            harness.runMails();
            List<Object> output = new ArrayList<>(harness.getOutput());
            assertThat(output).hasSize(KEYS + 2);
            assertThat(output.subList(KEYS, KEYS + 2))
                    .containsExactly(new Watermark(5), new Watermark(6));
        }
    }

    /** An idle output drops watermarks, so the status before them is not dropped. */
    @Test
    void shouldEmitAWatermarkOfAnOutputThatIsActiveForAWhileAmidARound() throws Exception {
        try (SymmetricHarness harness = withSpilledPartitions(spilling())) {
            setStatus(harness, WatermarkStatus.IDLE);
            harness.setProcessingTime(SPILL_DELAY_MS);
            harness.runMail();
            setStatus(harness, WatermarkStatus.ACTIVE);
            harness.watermark(JoinSide.LEFT, 6);
            harness.watermark(JoinSide.RIGHT, 6);
            setStatus(harness, WatermarkStatus.IDLE);
            harness.runMails();
            harness.setProcessingTime(2 * SPILL_DELAY_MS);
            harness.runMails();
            List<Object> output = new ArrayList<>(harness.getOutput());
            assertThat(output.subList(KEYS, output.size()))
                    .containsExactly(
                            new Watermark(5),
                            WatermarkStatus.IDLE,
                            WatermarkStatus.ACTIVE,
                            new Watermark(6),
                            WatermarkStatus.IDLE);
        }
    }

    private static void setStatus(SymmetricHarness harness, WatermarkStatus status)
            throws Exception {
        for (JoinSide side : JoinSide.values()) {
            harness.status(side, status);
        }
    }

    /** Else those of all subtasks before a rescale would be on the heap. */
    @Test
    void shouldLeaveDeferredRowsInStateUntilTheirRoundAfterARestore() throws Exception {
        RegularJoinShape shape = spilling();
        OperatorSubtaskState state;
        int before;
        try (SymmetricHarness harness = withSpilledPartitions(shape)) {
            before = harness.takeResults().size();
            state = harness.checkpoint(1);
        }
        RefusedMemory.reset(7);
        try (SymmetricHarness restored = SymmetricHarness.open(shape, 1, 0, state)) {
            restored.runMails();
            assertThat(restored.takeResults()).isEmpty();
            for (int key = 0; key < KEYS; key++) {
                insert(restored, shape, JoinSide.LEFT, key, KEYS + key);
            }
            restored.runMails();
            int results = restored.takeResults().size();
            state = restored.checkpoint(2);
            restored.setProcessingTime(SPILL_DELAY_MS);
            restored.runMails();
            results += restored.takeResults().size();
            assertThat(before + results).isEqualTo(2 * KEYS);
        }
        try (SymmetricHarness again = SymmetricHarness.open(shape, 1, 0, state)) {
            again.finish();
            assertThat(again.takeResults()).isNotEmpty();
        }
    }

    @Test
    void shouldRestoreDeferredRows() throws Exception {
        RegularJoinShape shape = spilling();
        OperatorSubtaskState state;
        int before;
        try (SymmetricHarness harness = withSpilledPartitions(shape)) {
            before = harness.takeResults().size();
            state = harness.checkpoint(1);
        }
        try (SymmetricHarness restored = SymmetricHarness.open(shape, 1, 0, state)) {
            restored.finish();
            assertThat(before + restored.takeResults().size()).isEqualTo(KEYS);
        }
    }

    /** The index of all keys exceeds memory, that of three quarters of them does not. */
    @Test
    void shouldSpillPartitionsOnlyUntilTheIndexFits() throws Exception {
        RegularJoinShape shape = spilling(new CpuSymmetricJoinFactory());
        int keys = 200_000;
        try (SymmetricHarness harness = SymmetricHarness.of(shape, 1, 0, 16 << 20)) {
            harness.open();
            for (JoinSide side : JoinSide.values()) {
                for (int first = 0; first < keys; first += 1_000) {
                    List<RowData> rows = new ArrayList<>();
                    for (int id = first; id < first + 1_000; id++) {
                        if (side == JoinSide.LEFT || id % 10 == 0) {
                            rows.add(shape.row(RowKind.INSERT, id, id, "note"));
                        }
                    }
                    for (var chunk : shape.chunks(side, rows)) {
                        harness.accept(side, chunk);
                    }
                    harness.runMails();
                }
            }
            assertThat(harness.takeResults()).hasSizeBetween(keys / 20, keys / 10 - 1);
        }
    }

    /**
     * The index of one partition exceeds a quarter of the memory, which is for spilled ones at
     * first.
     */
    @Test
    void shouldMoveRowsOfOtherPartitionsToFilesBeforeTheirIndexIsSpilled() throws Exception {
        RegularJoinShape shape = spilling(new CpuSymmetricJoinFactory());
        Map<Integer, List<Integer>> keys = keysOfPartitions();
        String longNote = "n".repeat(200);
        try (SymmetricHarness harness = SymmetricHarness.of(shape, 1, 0, 16 << 20)) {
            harness.open();
            for (int partition = 0; partition < JoinShape.PARTITIONS; partition++) {
                List<RowData> rows = new ArrayList<>();
                for (int key : keys.get(partition)) {
                    String note = partition == LARGE_PARTITION ? "n" : longNote;
                    rows.add(shape.row(RowKind.INSERT, key, key, note));
                    if (rows.size() == 1_000) {
                        harness.accept(JoinSide.LEFT, shape.chunks(JoinSide.LEFT, rows).get(0));
                        harness.runMails();
                        rows.clear();
                    }
                }
            }
            harness.setProcessingTime(SPILL_DELAY_MS);
            harness.runMails();
            for (List<Integer> ofPartition : keys.values()) {
                insert(harness, shape, JoinSide.RIGHT, ofPartition.get(0), 0);
            }
            assertThat(harness.takeResults()).as("partitions with tables").isNotEmpty();
            harness.setProcessingTime(2 * SPILL_DELAY_MS);
            harness.runMails();
            assertThat(harness.takeResults()).as("spilled partitions").isNotEmpty();
        }
    }

    private static Map<Integer, List<Integer>> keysOfPartitions() {
        Map<Integer, List<Integer>> keys = new HashMap<>();
        for (int key = 0; key < JoinShape.PARTITIONS * (LARGE_KEYS + 10_000); key++) {
            int partition = KeyHash.partition(KeyHash.hash(key), JoinShape.PARTITIONS);
            List<Integer> ofPartition = keys.computeIfAbsent(partition, p -> new ArrayList<>());
            int size = partition == LARGE_PARTITION ? LARGE_KEYS : SMALL_KEYS;
            if (ofPartition.size() < size) {
                ofPartition.add(key);
            }
        }
        return keys;
    }

    // ------------------------------------------------------------------ refusals

    @Test
    void shouldNameTheOptionIfTablesExceedManagedMemory() throws Exception {
        RegularJoinShape shape = appended(BulkJoinKind.INNER, FOREVER, FOREVER);
        try (SymmetricHarness harness = SymmetricHarness.of(shape, 1, 0, 1 << 20)) {
            harness.open();
            assertThatThrownBy(
                            () -> {
                                for (int id = 0; id < 1_000_000; id += 1_000) {
                                    List<RowData> rows = new ArrayList<>();
                                    for (int i = id; i < id + 1_000; i++) {
                                        rows.add(shape.row(RowKind.INSERT, i, i, "note"));
                                    }
                                    for (var chunk : shape.chunks(JoinSide.LEFT, rows)) {
                                        harness.accept(JoinSide.LEFT, chunk);
                                    }
                                }
                            })
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("taskmanager.memory.managed.size")
                    .hasMessageContaining("time to live");
        }
    }

    @Test
    void shouldRefuseStateOfAnotherJoin() throws Exception {
        OperatorSubtaskState state;
        RegularJoinShape inner = appended(BulkJoinKind.INNER, FOREVER, FOREVER);
        try (SymmetricHarness harness = SymmetricHarness.open(inner, 1, 0, null)) {
            insert(harness, inner, JoinSide.LEFT, 1, 1);
            state = harness.checkpoint(1);
        }
        RegularJoinShape left = appended(BulkJoinKind.LEFT, FOREVER, FOREVER);
        assertThatThrownBy(() -> SymmetricHarness.open(left, 1, 0, state))
                .rootCause()
                .hasMessageContaining("differs from that of the state in its kind")
                .hasMessageContaining("expected LEFT, restored INNER");
        RegularJoinShape changing =
                shape(
                        BulkJoinKind.INNER,
                        RowIdentity.MULTISET,
                        RowIdentity.APPEND_ONLY,
                        FOREVER,
                        FOREVER);
        assertThatThrownBy(() -> SymmetricHarness.open(changing, 1, 0, state))
                .rootCause()
                .hasMessageContaining("left input");
    }

    @Test
    void shouldRefuseAChangeOfAnAppendOnlyInput() {
        RegularJoinShape shape = appended(BulkJoinKind.INNER, FOREVER, FOREVER);
        assertThatThrownBy(
                        () -> shape.chunk(JoinSide.LEFT, shape.row(RowKind.DELETE, 1, 1, "note")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("append-only input of a join: kind=DELETE");
    }
}
