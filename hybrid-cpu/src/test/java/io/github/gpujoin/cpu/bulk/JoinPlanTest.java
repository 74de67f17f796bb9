// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which lanes join partitions of uneven sizes within a memory. */
@ExtendWith(RegionLeakExtension.class)
class JoinPlanTest {

    private static final int TUPLE_BYTES = 8;
    private static final BulkJoinSpec SPEC = spec();

    private final Map<JoinSide, List<PartitionStore>> stores = new EnumMap<>(JoinSide.class);
    private int partitions;

    private static BulkJoinSpec spec() {
        ChunkSchema keys = ChunkSchema.of(Column.of("key", ColumnType.INT64));
        return new BulkJoinSpec(
                new BulkInput("l", keys, List.of(0)),
                new BulkInput("r", keys, List.of(0)),
                BulkJoinKind.INNER,
                false,
                new BulkOutput.Count());
    }

    @AfterEach
    void closeStores() {
        stores.values().forEach(lanes -> lanes.forEach(PartitionStore::close));
    }

    /** Stores as many tuples of both inputs in each partition, and none without a match. */
    private void store(int... counts) {
        partitions = counts.length;
        for (JoinSide side : JoinSide.values()) {
            PartitionStore store =
                    new PartitionStore(counts.length + 1, TUPLE_BYTES, Allocator.unlimited());
            stores.put(side, List.of(store));
            for (int p = 0; p < counts.length; p++) {
                try (Region tuples =
                        Allocator.unlimited().allocate((long) TUPLE_BYTES * counts[p])) {
                    store.append(p, tuples.address(), counts[p]);
                }
            }
        }
    }

    private JoinPlan plan(int lanes, long availableBytes) {
        Map<JoinSide, TupleLayout> layouts = new EnumMap<>(JoinSide.class);
        for (JoinSide side : JoinSide.values()) {
            layouts.put(side, new TupleLayout(SPEC, side));
        }
        return new JoinPlan(SPEC.kind(), stores, layouts, partitions, lanes, availableBytes);
    }

    private static long tableBytes(int tuples) {
        return PartitionTable.lengthBytes(BulkJoinKind.INNER, JoinSide.RIGHT, tuples, TUPLE_BYTES);
    }

    /** Includes memory for blocks of spilled tuples, which has no bytes here. */
    private static long laneBytes(int tuples) {
        return Region.allocatedBytes(tableBytes(tuples)) + Region.allocatedBytes(0);
    }

    @Test
    void shouldJoinALargePartitionWithOneLaneIfTablesOfAllDoNotFit() {
        store(100, 10_000, 300, 200);
        JoinPlan plan = plan(4, tableBytes(10_000) + 3 * tableBytes(300) + 20_000);
        assertThat(plan.lanes()).isEqualTo(4);
        assertThat(plan.largePartitions()).containsExactly(1);
        assertThat(plan.ordinaryPartitions()).containsExactly(2, 3, 0, 4);
        assertThat(plan.isLimited(4)).as("the large partition takes longest").isFalse();
    }

    @ParameterizedTest(name = "memory of {0} tables: {1} lanes")
    @CsvSource({"4, 4", "3, 3", "2, 2", "1, 1"})
    void shouldJoinWithAsManyLanesAsHaveRoom(int tables, int lanes) {
        store(IntStream.range(0, 50).map(p -> 1_000).toArray());
        JoinPlan plan = plan(4, tables * laneBytes(1_000));
        assertThat(plan.lanes()).isEqualTo(lanes);
        assertThat(plan.largePartitions()).isEmpty();
        assertThat(plan.isLimited(4)).isEqualTo(lanes < 4);
    }

    @Test
    void shouldRejectMemoryWithoutRoomForOnePartition() {
        store(100, 1_000);
        assertThatExceptionOfType(MemoryRefusedException.class)
                .isThrownBy(() -> plan(2, tableBytes(1_000) - 1))
                .withMessageContaining("availableBytes=" + (tableBytes(1_000) - 1));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldNeverPlanMoreThanTheMemory(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int[] counts =
                IntStream.range(0, 40)
                        .map(p -> random.nextInt(random.nextInt(10) == 0 ? 5_000 : 500))
                        .toArray();
        store(counts);
        int lanes = 1 + random.nextInt(8);
        long largest = tableBytes(IntStream.of(counts).max().orElseThrow());
        long available =
                laneBytes(IntStream.of(counts).max().orElseThrow())
                        + random.nextLong(lanes * largest);
        JoinPlan plan = plan(lanes, available);
        long planned =
                IntStream.range(0, plan.lanes())
                        .mapToLong(lane -> Region.allocatedBytes(plan.tableBytes(lane)))
                        .sum();
        assertThat(planned).isLessThanOrEqualTo(available);
        List<Integer> partitions = new ArrayList<>(plan.largePartitions());
        partitions.addAll(plan.ordinaryPartitions());
        assertThat(partitions)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.rangeClosed(0, counts.length).boxed().toList());
        int lastLane = plan.lanes() - 1;
        assertThat(plan.ordinaryPartitions())
                .filteredOn(p -> p < counts.length)
                .allMatch(p -> tableBytes(counts[p]) <= plan.tableBytes(lastLane));
    }
}
