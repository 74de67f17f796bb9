// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.BuildShare;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.histogram.Histogram;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Skewed partitions on a device on the CPU, with two lanes in the modes that have several. */
@ExtendWith(RegionLeakExtension.class)
class GridModeTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("value", ColumnType.INT64));
    private static final JoinSpec SPEC =
            new JoinSpec(SCHEMA, List.of(new DimensionSpec("d", SCHEMA, 0, 0, JoinKind.INNER)));
    private static final int KEYS = 200;
    private static final int CHUNKS = 600;
    private static final int CHUNK_ROWS = 50;
    private static final int PARTITIONS = 8;
    private static final int HEAVY = 3;

    private final Random random = new Random(17);
    private final List<Long> expected = new ArrayList<>();
    private final List<Long> joined = new ArrayList<>();

    /** A chunk of a partition; most are of the heavy one. */
    private Chunk facts() {
        int partition = random.nextInt(4) == 0 ? random.nextInt(PARTITIONS) : HEAVY;
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 64 * CHUNK_ROWS);
        for (int row = 0; row < CHUNK_ROWS; row++) {
            long key = random.nextInt(2 * KEYS);
            TestChunks.addRow(builder, new Object[] {key, 0L});
            if (key < KEYS) {
                expected.add(7 * key);
            }
        }
        return builder.seal(ChunkDescriptor.FACTS, partition, 0, 0);
    }

    private void poll(JoinEngine engine) {
        ResultBatch batch = engine.poll();
        for (int row = 0; batch != null && row < batch.rowCount(); row++) {
            joined.add(batch.getLong(0, 0, row));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReturnTheSameResultsInEveryMode(GridMode mode) throws Exception {
        GpuOptions options = GpuOptions.defaults().withSlots(8, 100).withGridMode(mode);
        List<LaneLoad> loads;
        try (HostDevice device = HostDevice.open(options);
                GpuJoinEngine engine = (GpuJoinEngine) device.create(SPEC)) {
            List<Object[]> rows = new ArrayList<>();
            for (long key = 0; key < KEYS; key++) {
                rows.add(new Object[] {key, 7 * key});
            }
            engine.submitBuild(0, TestChunks.of(SCHEMA, 0, rows));
            engine.finishBuild();
            for (int i = 0; i < CHUNKS; i++) {
                if (i == CHUNKS / 2) {
                    expectHeavyPartition(engine);
                }
                Chunk facts = facts();
                while (!engine.submitProbe(facts, 0)) {
                    poll(engine);
                }
            }
            while (engine.inFlightCount() > 0) {
                poll(engine);
            }
            loads = engine.laneLoads();
        }

        assertThat(joined).isEqualTo(expected);
        assertThat(loads).allMatch(load -> load.steps() > 0);
        assertThat(loads.stream().map(LaneLoad::blocks).toList())
                .isEqualTo(
                        switch (mode) {
                            case STATIC -> List.of(2, 2);
                            case HISTOGRAM -> List.of(1, 3);
                            case ADAPTIVE -> List.of(2);
                        });
    }

    private static void expectHeavyPartition(GpuJoinEngine engine) {
        Histogram rows = new Histogram(PARTITIONS);
        rows.add(HEAVY, KEYS);
        engine.expect(new BuildShare(rows, 16 * KEYS, KEYS, 16 * KEYS));
    }
}
