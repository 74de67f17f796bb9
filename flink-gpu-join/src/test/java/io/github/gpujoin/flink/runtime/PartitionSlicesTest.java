// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static io.github.gpujoin.flink.runtime.PairScenario.BUILD;
import static io.github.gpujoin.flink.runtime.PairScenario.PARTITIONS;
import static io.github.gpujoin.flink.runtime.PairScenario.PROBE;
import static io.github.gpujoin.flink.runtime.PairScenario.chunks;
import static io.github.gpujoin.flink.runtime.PairScenario.expected;
import static io.github.gpujoin.flink.runtime.PairScenario.feed;
import static io.github.gpujoin.flink.runtime.PairScenario.operator;
import static io.github.gpujoin.flink.runtime.PairScenario.records;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.summingLong;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.engine.DimensionPartitioning;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.engine.RoomForOne;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** All kinds of pair joins where memory holds the table of a slice of a partition at a time. */
@ExtendWith(RegionLeakExtension.class)
class PartitionSlicesTest {

    @ParameterizedTest
    @EnumSource(PairKind.class)
    void shouldJoinEveryKindInSlicesOfAPartition(PairKind kind) throws Exception {
        RoomForOne room = new RoomForOne();
        Random random = new Random(kind.ordinal());
        List<Row> builds = records(random, 20_000);
        List<Row> probes = records(random, 300);
        // a packer drops rows that cannot be in a result
        builds.removeIf(row -> row.getField(0) == null && !kind.keepsUnmatchedBuild());
        List<Chunk> build = chunks(BUILD, builds, 0);
        Map<Integer, Long> partitionBytes =
                build.stream()
                        .collect(groupingBy(Chunk::partition, summingLong(Chunk::lengthBytes)));
        EngineSelection engines =
                EngineSelection.only(room)
                        .dividing(
                                new DimensionPartitioning(
                                        0, PARTITIONS, JoinScenario.SPILL_DELAY_MS));
        try (JoinHarness harness = new JoinHarness(operator(kind, engines), PARTITIONS, 1, 0)) {
            harness.open();
            feed(List.of(harness), build, chunks(PROBE, probes, ChunkDescriptor.FACTS));
            harness.endBuild();
            harness.probeWatermark(Long.MAX_VALUE);
            harness.endProbe();
            harness.finish();
            assertThat(partitionBytes.values()).anyMatch(bytes -> bytes > 2 * room.tableBytes());
            assertThat(harness.results().stream().sorted())
                    .as("seed=%s", kind.ordinal())
                    .containsExactlyElementsOf(
                            expected(kind, builds, probes).stream().sorted().toList());
        }
    }
}
