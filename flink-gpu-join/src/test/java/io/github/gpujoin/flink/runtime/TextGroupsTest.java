// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.engine.DimensionPartitioning;
import io.github.gpujoin.flink.engine.EngineSelection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Facts grouped by a dimension's text, over restores into other engines and parallelisms. Drawn
 * from the seed in the test's display name, and compared with sums of the facts in their order.
 */
@ExtendWith(RegionLeakExtension.class)
class TextGroupsTest {

    private static final int MAX_PARALLELISM = JoinScenario.MAX_PARALLELISM;
    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("number", ColumnType.INT64));
    private static final ChunkSchema CUSTOMERS =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.nullable("city", ColumnType.STRING),
                    Column.of("change", ColumnType.INT32));
    private static final int CUSTOMER_IDS = 60;

    private static final EngineSelection CPU = EngineSelection.only(new CpuJoinEngineFactory());
    private static final EngineSelection REFERENCE =
            EngineSelection.only(new ReferenceJoinEngineFactory());

    private final Map<Long, String> cities = new HashMap<>();
    private final Map<String, long[]> expected = new TreeMap<>();
    private final List<String> parts = new ArrayList<>();
    private final List<JoinHarness> subtasks = new ArrayList<>();
    private Random random;
    private boolean isChangelog;
    private boolean partitioned;

    /** Cities that later changes name, so that texts appear while facts are joined. */
    private int cityCount = 5;

    @AfterEach
    void closeSubtasks() throws Exception {
        IOUtils.closeAll(subtasks);
    }

    private void joinAs(long seed, boolean isChangelog, boolean partitioned) {
        this.random = new Random(seed);
        this.isChangelog = isChangelog;
        this.partitioned = partitioned;
    }

    @ParameterizedTest(name = "seed={0} from {1} to {2}, changelog={3}, partitioned={4}")
    @CsvSource({
        "1,cpu,cpu,false,false",
        "2,cpu,reference,false,true",
        "3,reference,cpu,false,false",
        "4,cpu,divided,false,true",
        "5,divided,cpu,false,true",
        "6,divided,divided,false,true",
        "7,cpu,cpu,true,false",
        "8,cpu,reference,true,true",
        "9,reference,cpu,true,false",
        "10,cpu,cpu,true,true"
    })
    void shouldAddTextGroupsUpOverRestoresAndChanges(
            long seed, String from, String to, boolean isChangelog, boolean partitioned)
            throws Exception {
        joinAs(seed, isChangelog, partitioned);
        open(engines(from), 2, null);
        change(100);
        startJoining();
        for (int step = 0; step < 60; step++) {
            int drawn = random.nextInt(10);
            if (drawn == 0) {
                restore(engines(random.nextBoolean() ? from : to), 1 + random.nextInt(4));
            } else if (drawn < 4 && isChangelog) {
                cityCount++;
                change(1 + random.nextInt(30));
            } else {
                facts(1 + random.nextInt(50));
            }
        }
        for (JoinHarness subtask : subtasks) {
            subtask.endProbe();
            subtask.finish();
        }
        collect();
        assertThat(addUp()).isNotEmpty().isEqualTo(text(expected));
    }

    @Test
    void shouldEmitAGroupOnceForAllItsFacts() throws Exception {
        joinAs(11, false, false);
        open(CPU, 1, null);
        change(100);
        startJoining();
        for (int i = 0; i < 20; i++) {
            facts(500);
        }
        collect();
        assertThat(parts).isEmpty();
        subtasks.get(0).barrier(1);
        collect();
        assertThat(parts).hasSameSizeAs(expected.keySet());
        assertThat(addUp()).isEqualTo(text(expected));
    }

    private static EngineSelection engines(String name) {
        return switch (name) {
            case "cpu" -> CPU;
            case "reference" -> REFERENCE;
            default -> CPU.dividing(new DimensionPartitioning(0, 16, 0));
        };
    }

    private JoinSpec spec() {
        int changes = isChangelog ? 2 : DimensionSpec.NO_CHANGES;
        return new JoinSpec(
                FACTS,
                List.of(new DimensionSpec("customers", CUSTOMERS, 0, 0, JoinKind.INNER, changes)),
                List.of(),
                new Aggregation(
                        List.of(new JoinColumn(0, 1)),
                        List.of(Aggregate.count(), Aggregate.sum(JoinColumn.ofFact(1)))));
    }

    private void open(EngineSelection engines, int parallelism, OperatorSubtaskState state)
            throws Exception {
        int before = Math.max(1, subtasks.size());
        IOUtils.closeAll(subtasks);
        subtasks.clear();
        for (int i = 0; i < parallelism; i++) {
            StarJoinOperatorFactory<String> operator =
                    new StarJoinOperatorFactory<>(
                            JoinScenario.settings(spec(), engines, 1_000),
                            context ->
                                    new GroupTextEmitter(
                                            (groups, row) -> groups.groupText(row, 0)));
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
            parts.addAll(subtask.results());
            subtask.getOutput().clear();
        }
    }

    /** Each customer has one row; in a changelog it may be deleted or move to another city. */
    private void change(int count) throws Exception {
        Map<Integer, List<Object[]>> rows = new HashMap<>();
        for (int i = 0; i < count; i++) {
            long id = random.nextInt(CUSTOMER_IDS);
            if (!isChangelog && cities.containsKey(id)) {
                continue;
            }
            boolean deletes = isChangelog && random.nextInt(4) == 0;
            int number = random.nextInt(cityCount);
            String city = number == 0 ? null : "city " + number;
            if (deletes) {
                cities.remove(id);
            } else {
                cities.put(id, city);
            }
            RowChange change = deletes ? RowChange.DELETE : RowChange.UPSERT;
            rows.computeIfAbsent(partition(id), p -> new ArrayList<>())
                    .add(new Object[] {id, city, change.code()});
        }
        for (Map.Entry<Integer, List<Object[]>> entry : rows.entrySet()) {
            Chunk chunk = TestChunks.of(CUSTOMERS, 0, entry.getValue());
            for (JoinHarness subtask : owners(entry.getKey())) {
                subtask.build(chunk.withPartition(entry.getKey()));
            }
        }
    }

    private void facts(int count) throws Exception {
        Map<Integer, List<Object[]>> rows = new HashMap<>();
        for (int i = 0; i < count; i++) {
            long key = random.nextInt(CUSTOMER_IDS + 10);
            long number = random.nextInt(1_000);
            if (cities.containsKey(key)) {
                add(expected, String.valueOf(cities.get(key)), 1, number);
            }
            rows.computeIfAbsent(partition(key), p -> new ArrayList<>())
                    .add(new Object[] {key, number});
        }
        for (Map.Entry<Integer, List<Object[]>> entry : rows.entrySet()) {
            Chunk chunk = TestChunks.of(FACTS, ChunkDescriptor.FACTS, entry.getValue());
            List<JoinHarness> owners = owners(entry.getKey());
            owners.get(random.nextInt(owners.size())).probe(chunk.withPartition(entry.getKey()));
        }
    }

    private static void add(Map<String, long[]> sums, String city, long count, long sum) {
        long[] total = sums.computeIfAbsent(city, c -> new long[2]);
        total[0] += count;
        total[1] += sum;
    }

    private List<String> addUp() {
        Map<String, long[]> sums = new TreeMap<>();
        for (String part : parts) {
            String[] words = part.split("\\|");
            add(sums, words[0], Long.parseLong(words[1]), Long.parseLong(words[2]));
        }
        return text(sums);
    }

    private static List<String> text(Map<String, long[]> sums) {
        return sums.entrySet().stream()
                .map(e -> e.getKey() + "|" + e.getValue()[0] + "|" + e.getValue()[1])
                .toList();
    }

    private int partition(long key) {
        return partitioned
                ? KeyHash.partition(KeyHash.hash(key), MAX_PARALLELISM)
                : ChunkDescriptor.UNPARTITIONED;
    }

    private List<JoinHarness> owners(int partition) {
        if (partition == ChunkDescriptor.UNPARTITIONED) {
            return subtasks;
        }
        int owner =
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        MAX_PARALLELISM, subtasks.size(), partition);
        return List.of(subtasks.get(owner));
    }
}
