// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Segments that are larger than a result buffer, on a device emulated by the CPU. */
@ExtendWith(RegionLeakExtension.class)
class SegmentFeedTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("value", ColumnType.INT64));
    private static final JoinSpec SPEC =
            new JoinSpec(SCHEMA, List.of(new DimensionSpec("d", SCHEMA, 0, 0, JoinKind.INNER)));
    private static final int FACTS = 10_000;

    private HostDevice device;

    @BeforeEach
    void open() throws Exception {
        device = HostDevice.open(options(false));
    }

    @AfterEach
    void close() {
        device.close();
    }

    private static GpuOptions options(boolean encodes) {
        return GpuOptions.defaults().withSlots(4, 1000).withEncodeSegments(encodes);
    }

    private static Chunk chunk(int dimension, LongStream keys) {
        List<Object[]> rows = keys.mapToObj(key -> new Object[] {key, 3 * key}).toList();
        return TestChunks.of(SCHEMA, dimension, rows);
    }

    private static Chunk facts(int first) {
        return chunk(-1, LongStream.range(first, first + FACTS));
    }

    private SegmentReplay replay(GpuOptions options, int copies) {
        device.lease().retain();
        SegmentReplay replay =
                new SegmentReplay(SPEC, options, List.of(1), DeviceGroup.of(device.lease()));
        Collections.nCopies(copies, chunk(0, LongStream.range(0, 12_000)))
                .forEach(rows -> replay.submitBuild(0, rows));
        replay.finishBuild();
        return replay;
    }

    @ParameterizedTest
    @CsvSource({
        "PLAIN_RESULTS, false",
        "PLAIN_RESULTS, true",
        "PACKED_RESULTS, false",
        "PACKED_RESULTS, true"
    })
    void shouldReturnAllResultsOfLargeSegments(StepOutput output, boolean encodes) {
        try (SegmentReplay replay = replay(options(encodes), 1);
                SegmentFeed feed = replay.feed(List.of(facts(0), facts(5000)), 2, output)) {
            Map<Chunk, Long> counts = new HashMap<>();
            SegmentFeed.Served served =
                    feed.serveOnce(
                            batch -> {
                                for (int row = 0; row < batch.rowCount(); row++) {
                                    long key = batch.chunk().getLong(0, batch.probeRow(row));
                                    assertThat(batch.getLong(0, 0, row)).isEqualTo(3 * key);
                                }
                                counts.merge(batch.chunk(), (long) batch.rowCount(), Long::sum);
                            });
            assertThat(served.rows()).isEqualTo(2 * FACTS);
            assertThat(served.results()).isEqualTo(FACTS + 7000);
            assertThat(counts.values()).containsExactlyInAnyOrder((long) FACTS, 7000L);
        }
    }

    @Test
    void shouldRejectPackingIfAFactMayHaveSeveralResults() {
        try (SegmentReplay replay = replay(options(false), 2)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> replay.feed(List.of(facts(0)), 1, StepOutput.PACKED_RESULTS))
                    .withMessageContaining("cannot be packed");
        }
    }
}
