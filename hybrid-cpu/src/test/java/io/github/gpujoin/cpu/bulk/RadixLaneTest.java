// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How a lane ends if closing the join interrupts it. */
@ExtendWith(RegionLeakExtension.class)
class RadixLaneTest {

    private static final ChunkSchema KEYS = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final RadixJoinOptions ONE_PARTITION = new RadixJoinOptions(1, 0, 1_000, null);

    private static BulkJoinSpec spec(BulkJoinKind kind) {
        return new BulkJoinSpec(
                new BulkInput("l", KEYS, List.of(0)),
                new BulkInput("r", KEYS, List.of(0)),
                kind,
                false,
                new BulkOutput.Count());
    }

    private static Chunk key(long key) {
        return TestChunks.of(KEYS, ChunkDescriptor.FACTS, List.<Object[]>of(new Object[] {key}));
    }

    private static RadixLane lane(BulkJoinKind kind) {
        return new RadixLane(spec(kind), ONE_PARTITION, Long.MAX_VALUE, Allocator.unlimited());
    }

    /** Neither kind has a result that would wait for a caller of poll. */
    @ParameterizedTest
    @EnumSource(names = {"INNER", "SEMI"})
    void shouldNotJoinIfInterrupted(BulkJoinKind kind) throws Exception {
        try (RadixLane lane = lane(kind)) {
            lane.append(JoinSide.LEFT, key(1));
            lane.append(JoinSide.RIGHT, key(2));
            Map<JoinSide, List<PartitionStore>> stores = new EnumMap<>(JoinSide.class);
            for (JoinSide side : JoinSide.values()) {
                stores.put(side, List.of(lane.store(side)));
            }
            List<BulkResult> results = new ArrayList<>();
            lane.openWriter(results::add);
            lane.reserve(1_000, 0);
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(() -> lane.join(stores, List.of(new ArrayDeque<>(List.of(0)))));
            assertThat(results).isEmpty();
        }
    }

    @Test
    void shouldNotPartitionIfInterrupted() {
        try (RadixLane lane = lane(BulkJoinKind.INNER)) {
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(() -> lane.append(JoinSide.LEFT, key(1)));
            assertThat(lane.store(JoinSide.LEFT).tupleCount(0)).isZero();
        }
    }
}
