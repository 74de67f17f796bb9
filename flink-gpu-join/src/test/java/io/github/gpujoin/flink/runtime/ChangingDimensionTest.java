// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.HostDevice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Facts, changes, snapshots and restores in random order, against Flink's own processing-time
 * temporal join of the same facts and changes in that order. Drawn from the seed in the test's
 * display name.
 */
@ExtendWith(RegionLeakExtension.class)
class ChangingDimensionTest {

    private static final EngineSelection CPU = EngineSelection.only(new CpuJoinEngineFactory());
    private static final int KEYS = 60;
    private static final int MAX_PARALLELISM = JoinScenario.MAX_PARALLELISM;

    private final Map<Long, Long> prices = new HashMap<>();
    private final List<String> results = new ArrayList<>();
    private final List<JoinHarness> subtasks = new ArrayList<>();
    private ChangingShape shape;
    private ProcessTimeTemporalJoin flinks;
    private boolean partitioned;
    private Random random;
    private long number;

    private void joinAs(JoinKind kind, long seed, boolean partitioned, int hashes)
            throws Exception {
        this.shape = new ChangingShape(kind, hashes);
        this.flinks = new ProcessTimeTemporalJoin(kind == JoinKind.LEFT);
        this.random = new Random(seed);
        this.partitioned = partitioned;
    }

    @AfterEach
    void closeSubtasks() throws Exception {
        IOUtils.closeAll(subtasks);
        flinks.close();
    }

    /** With 9 hashes, most keys share theirs with others; with 59, two keys do. */
    @ParameterizedTest(name = "seed={0} engine={1} partitioned={2} kind={3} hashes={4}")
    @CsvSource({
        "1,cpu,true,INNER,0",
        "2,cpu,false,INNER,0",
        "3,cpu,true,LEFT,0",
        "4,cpu,false,LEFT,0",
        "5,cpu,true,INNER,0",
        "6,cpu,false,LEFT,0",
        "7,reference,true,LEFT,0",
        "8,reference,false,INNER,0",
        "11,cpu,true,INNER,9",
        "12,cpu,false,LEFT,9",
        "13,cpu,true,LEFT,9",
        "14,cpu,false,INNER,9",
        "15,reference,true,LEFT,9",
        "16,gpu,true,LEFT,1000",
        "17,gpu,false,INNER,1000",
        "18,gpu,true,INNER,59",
        "19,gpu,false,LEFT,59"
    })
    void shouldJoinFactsWithTheRowsOfTheirTimeOfArrivalAsFlinkDoes(
            long seed, String engine, boolean partitioned, JoinKind kind, int hashes)
            throws Exception {
        joinAs(kind, seed, partitioned, hashes);
        switch (engine) {
            case "cpu" -> joinRandomly(CPU);
            case "reference" ->
                    joinRandomly(EngineSelection.only(new ReferenceJoinEngineFactory()));
            default -> joinRandomlyOnADevice();
        }
    }

    /** Two keys with one hash leave the GPU, and no others. */
    private void joinRandomlyOnADevice() throws Exception {
        CountedCpuFactory cpu = new CountedCpuFactory();
        try (HostDevice device = HostDevice.open(GpuOptions.defaults().withSlots(4, 1_000))) {
            joinRandomly(new EngineSelection(context -> device, true, cpu));
            IOUtils.closeAll(subtasks);
        }
        assertThat(cpu.engineCount() > 0).isEqualTo(shape.hashes() < KEYS);
    }

    private void joinRandomly(EngineSelection engines) throws Exception {
        open(engines, 2, null);
        change(100);
        startJoining();
        for (int step = 0; step < 150; step++) {
            switch (random.nextInt(12)) {
                case 0 -> {
                    // facts in flight may see changes that come before they are taken up again
                    for (JoinHarness subtask : subtasks) {
                        subtask.runMails(Integer.MAX_VALUE);
                    }
                    restore(engines, 1 + random.nextInt(4));
                }
                case 1, 2, 3, 4, 5 -> change(1 + random.nextInt(50));
                default -> facts(1 + random.nextInt(50));
            }
        }
        collect();
        assertThat(results)
                .hasSizeGreaterThan(500)
                .containsExactlyInAnyOrderElementsOf(flinks.results());
    }

    @ParameterizedTest(name = "partitioned={0} hashes={1}")
    @CsvSource({"true,0", "false,0", "true,9", "false,9"})
    void shouldKeepNoMoreInStateThanIsLeftOfTheChanges(boolean partitioned, int hashes)
            throws Exception {
        joinAs(JoinKind.INNER, 9, partitioned, hashes);
        open(CPU, 1, null);
        startJoining();
        for (int i = 0; i < 200; i++) {
            change(2_000);
        }
        long changesBytes = 200L * 2_000 * 20;
        OperatorSubtaskState state = subtasks.get(0).snapshot(1, 1);
        assertThat(state.getStateSize()).isLessThan(changesBytes / 2);
        restore(CPU, 3);
        facts(1_000);
        collect();
        assertThat(results).isNotEmpty().containsExactlyInAnyOrderElementsOf(flinks.results());
    }

    @ParameterizedTest(name = "partitioned={0}")
    @CsvSource({"true", "false"})
    void shouldKeepNoMoreInStateHoweverOftenItIsRestored(boolean partitioned) throws Exception {
        joinAs(JoinKind.INNER, 10, partitioned, 0);
        open(CPU, 1, null);
        startJoining();
        int changesAnAttempt = partitioned ? 40_000 : 4_000; // too few to have a log rewritten
        int attempts = 10;
        for (int i = 0; i < attempts; i++) {
            for (int done = 0; done < changesAnAttempt; done += 2_000) {
                change(2_000);
            }
            restore(CPU, 1);
        }
        OperatorSubtaskState state = subtasks.get(0).snapshot(1, 1);
        long changesBytes = 20L * attempts * changesAnAttempt;
        assertThat(state.getStateSize()).isLessThan(changesBytes / 2);
        facts(1_000);
        collect();
        assertThat(results).isNotEmpty().containsExactlyInAnyOrderElementsOf(flinks.results());
    }

    private void open(EngineSelection engines, int parallelism, OperatorSubtaskState state)
            throws Exception {
        int before = Math.max(1, subtasks.size());
        IOUtils.closeAll(subtasks);
        subtasks.clear();
        for (int i = 0; i < parallelism; i++) {
            StarJoinOperatorFactory<String> operator =
                    new StarJoinOperatorFactory<>(
                            JoinScenario.settings(shape.spec(), engines, 1_000), shape.emitter());
            JoinHarness subtask = new JoinHarness(operator, MAX_PARALLELISM, parallelism, i);
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

    private void restore(EngineSelection engines, int parallelism) throws Exception {
        List<OperatorSubtaskState> states = new ArrayList<>();
        for (JoinHarness subtask : subtasks) {
            subtask.barrier(1);
            states.add(subtask.snapshot(1, 1));
        }
        collect();
        open(
                engines,
                parallelism,
                AbstractStreamOperatorTestHarness.repackageState(
                        states.toArray(OperatorSubtaskState[]::new)));
        startJoining();
    }

    private void startJoining() throws Exception {
        for (JoinHarness subtask : subtasks) {
            subtask.completeBuild();
            subtask.runMails(Integer.MAX_VALUE);
        }
    }

    private void collect() throws Exception {
        for (JoinHarness subtask : subtasks) {
            subtask.runMails(Integer.MAX_VALUE);
            results.addAll(subtask.results());
            subtask.getOutput().clear();
        }
    }

    private void change(int count) throws Exception {
        Map<Integer, List<long[]>> rows = new HashMap<>();
        for (int i = 0; i < count; i++) {
            long id = random.nextInt(KEYS);
            boolean deletes = random.nextInt(4) == 0;
            long value = ++number;
            changeFlinks(id, deletes ? null : value);
            RowChange change = deletes ? RowChange.DELETE : RowChange.UPSERT;
            rows.computeIfAbsent(partition(id), p -> new ArrayList<>())
                    .add(new long[] {id, value, change.code()});
        }
        for (Map.Entry<Integer, List<long[]>> entry : rows.entrySet()) {
            for (JoinHarness subtask : owners(entry.getKey(), subtasks)) {
                subtask.build(shape.changes(entry.getKey(), entry.getValue()));
            }
        }
    }

    /** As a changelog has it, with the row before an update. */
    private void changeFlinks(long id, Long value) throws Exception {
        Long before = value == null ? prices.remove(id) : prices.put(id, value);
        if (before != null) {
            flinks.change(value == null ? RowKind.DELETE : RowKind.UPDATE_BEFORE, id, before);
        }
        if (value != null) {
            flinks.change(before == null ? RowKind.INSERT : RowKind.UPDATE_AFTER, id, value);
        }
    }

    private void facts(int count) throws Exception {
        Map<Integer, List<long[]>> rows = new HashMap<>();
        for (int i = 0; i < count; i++) {
            long key = random.nextInt(KEYS + 10);
            long fact = ++number;
            flinks.fact(key, fact);
            rows.computeIfAbsent(partition(key), p -> new ArrayList<>())
                    .add(new long[] {key, fact});
        }
        for (Map.Entry<Integer, List<long[]>> entry : rows.entrySet()) {
            List<JoinHarness> owners = owners(entry.getKey(), subtasks);
            owners.get(random.nextInt(owners.size()))
                    .probe(shape.facts(entry.getKey(), entry.getValue()));
        }
    }

    private int partition(long key) {
        return partitioned
                ? KeyHash.partition(KeyHash.hash(shape.integer(key)), MAX_PARALLELISM)
                : ChunkDescriptor.UNPARTITIONED;
    }

    private static List<JoinHarness> owners(int partition, List<JoinHarness> subtasks) {
        if (partition == ChunkDescriptor.UNPARTITIONED) {
            return subtasks;
        }
        int owner =
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        MAX_PARALLELISM, subtasks.size(), partition);
        return List.of(subtasks.get(owner));
    }
}
