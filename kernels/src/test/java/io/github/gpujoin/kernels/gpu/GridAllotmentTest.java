// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.engine.BuildShare;
import io.github.gpujoin.core.histogram.Histogram;
import io.github.gpujoin.core.histogram.RunningHistogram;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class GridAllotmentTest {

    private static final int BLOCKS = 132;
    private static final int SEGMENT_BYTES = 256 << 10;

    private final Region control = Region.allocateZeroed(GridAllotment.controlBytes(BLOCKS));

    @AfterEach
    void closeRegion() {
        control.close();
    }

    private GridAllotment allotment(GridMode mode) {
        return new GridAllotment(mode, BLOCKS, control.address());
    }

    private int version() {
        return Memory.getInt(control.address() + StepDescriptor.CONTROL_ALLOTMENT_OFFSET);
    }

    /** Blocks of each lane as the kernel reads them. */
    private int[] published(int lanes) {
        int[] blocks = new int[lanes];
        for (int block = 0; block < BLOCKS; block++) {
            long at = control.address() + StepDescriptor.CONTROL_LANE_OF_OFFSET + block;
            blocks[Memory.getByte(null, at)]++;
        }
        return blocks;
    }

    @ParameterizedTest(name = "{0}, {1} blocks: {2} lanes")
    @CsvSource({
        "ADAPTIVE, 132, 1",
        "STATIC, 132, 64",
        "HISTOGRAM, 132, 64",
        "HISTOGRAM, 108, 32",
        "STATIC, 2, 1",
        "STATIC, 1, 1",
        "STATIC, 100000, 64"
    })
    void shouldAssignTwoBlocksToEachLaneIfPossible(GridMode mode, int blocks, int lanes) {
        assertThat(GridAllotment.lanesOf(mode, blocks)).isEqualTo(lanes);
    }

    @Test
    void shouldAssignEachPartitionAFixedLaneRoundRobin() {
        GridAllotment allotment = allotment(GridMode.STATIC);
        assertThat(allotment.laneOf(67, 1)).isEqualTo(3).isEqualTo(allotment.laneOf(67, 2));
        assertThat(
                        IntStream.range(0, 64)
                                .map(s -> allotment.laneOf(ChunkDescriptor.UNPARTITIONED, s)))
                .containsExactlyElementsOf(IntStream.range(0, 64).boxed().toList());
    }

    @Test
    void shouldNeverMoveABlockOfAStaticGrid() {
        GridAllotment allotment = allotment(GridMode.STATIC);
        int[] before = published(64);
        assertThat(before).containsOnly(2, 3);
        IntStream.range(0, 10_000).forEach(step -> allotment.count(5, SEGMENT_BYTES));
        assertThat(version()).isEqualTo(1);
        assertThat(published(64)).isEqualTo(before);
    }

    @Test
    void shouldFollowChangesOfLoad() {
        GridAllotment allotment = allotment(GridMode.HISTOGRAM);
        for (int heavy : new int[] {7, 40}) {
            int versionBefore = version();
            Random random = new Random(heavy);
            for (int step = 0; step < 10_000; step++) {
                int lane = random.nextBoolean() ? heavy : random.nextInt(64);
                allotment.count(lane, SEGMENT_BYTES);
            }
            int[] blocks = published(64);
            assertThat(version()).isGreaterThan(versionBefore);
            assertThat(blocks[heavy]).as("half of what lanes have besides one").isBetween(32, 38);
            assertThat(Arrays.stream(blocks)).allMatch(count -> count >= 1);
            assertThat(Arrays.stream(blocks).sum()).isEqualTo(BLOCKS);
            assertThat(allotment.blocksOf(heavy)).isEqualTo(blocks[heavy]);
        }
    }

    /** A subtask with three quarters of the rows of its process, all in one partition. */
    private static void expect(GridAllotment allotment, int heavy, int light) {
        for (int partition : new int[] {heavy, light}) {
            Histogram rows = new Histogram(128);
            rows.add(partition, partition == heavy ? 3_000_000 : 1_000_000);
            allotment.expect(new BuildShare(rows, 16, 4_000_000, 64));
        }
    }

    @Test
    void shouldAssignBlocksByBuildRowsBeforeFactsArrive() {
        GridAllotment allotment = allotment(GridMode.HISTOGRAM);
        expect(allotment, 64 + 3, 10);
        int[] blocks = published(64);
        assertThat(blocks[3]).as("three quarters of what lanes have besides one").isEqualTo(52);
        assertThat(blocks[10]).isEqualTo(18);
        assertThat(Arrays.stream(blocks).sum()).isEqualTo(BLOCKS);
        assertThat(version()).isEqualTo(3);
    }

    @Test
    void shouldFollowFactsThatDifferFromTheExpectedOnes() {
        GridAllotment allotment = allotment(GridMode.HISTOGRAM);
        expect(allotment, 3, 10);
        for (int step = 0; step < 10_000; step++) {
            allotment.count(40, SEGMENT_BYTES);
        }
        int[] blocks = published(64);
        assertThat(blocks[40]).isGreaterThan(60);
        assertThat(blocks[3]).isLessThan(5);
    }

    @ParameterizedTest
    @EnumSource(names = {"STATIC", "ADAPTIVE"})
    void shouldExpectNothingInOtherModes(GridMode mode) {
        GridAllotment allotment = allotment(mode);
        expect(allotment, 3, 10);
        assertThat(version()).isEqualTo(1);
    }

    @Test
    void shouldDistributeChunksOfManyPartitionsOverAllLanes() {
        ChunkBuilder builder =
                new ChunkBuilder(ChunkSchema.of(Column.of("key", ColumnType.INT64)), 1024);
        TestChunks.addRow(builder, new Object[] {7L});
        Chunk many = builder.sealMany(ChunkDescriptor.FACTS, 5, 0, 0);
        assertThat(GridAllotment.partitionOf(many)).isEqualTo(ChunkDescriptor.UNPARTITIONED);
        TestChunks.addRow(builder, new Object[] {7L});
        Chunk one = builder.seal(ChunkDescriptor.FACTS, 5, 0, 0);
        assertThat(GridAllotment.partitionOf(one)).isEqualTo(5);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldAssignAllBlocksByShareWithMinimalMoves(int seed) {
        Random random = new Random(seed);
        int lanes = 1 << random.nextInt(5);
        int blocks = lanes + random.nextInt(200);
        RunningHistogram histogram = new RunningHistogram(lanes, 1 << 20);
        for (int lane = 0; lane < lanes; lane++) {
            histogram.add(lane, random.nextInt(1000));
        }
        int[] laneOfBlock = IntStream.range(0, blocks).map(block -> block % lanes).toArray();
        int[] before = laneOfBlock.clone();
        int[] dealt = GridAllotment.deal(histogram, blocks);
        assertThat(Arrays.stream(dealt).sum()).isEqualTo(blocks);
        boolean moved = GridAllotment.move(laneOfBlock, dealt);
        int moves = 0;
        for (int block = 0; block < blocks; block++) {
            moves += laneOfBlock[block] == before[block] ? 0 : 1;
        }
        int needed = 0;
        for (int lane = 0; lane < lanes; lane++) {
            int own = lane;
            assertThat(dealt[lane] - 1 - histogram.share(lane) * (blocks - lanes))
                    .as("remainder of lane %s", lane)
                    .isBetween(-1.0, 1.0);
            assertThat(Arrays.stream(laneOfBlock).filter(l -> l == own).count())
                    .isEqualTo(dealt[lane]);
            needed +=
                    Math.max(
                            0,
                            (int) Arrays.stream(before).filter(l -> l == own).count() - dealt[own]);
        }
        assertThat(moves).isEqualTo(needed);
        assertThat(moved).isEqualTo(needed > 0);
        assertThat(GridAllotment.move(laneOfBlock, dealt)).as("a second time").isFalse();
    }

    @Test
    void shouldRejectAnotherModeOnASharedDevice() {
        GpuOptions options = GpuOptions.defaults();
        DeviceLease lease = new DeviceLease(new RefusingDriver(), options);
        try {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> lease.requireMode(GridMode.STATIC))
                    .withMessage(
                            "Grid modes of engines on one device differ: gridMode=STATIC,"
                                    + " running=ADAPTIVE. Close the running engines first, or use"
                                    + " their mode.");
            lease.requireMode(GridMode.ADAPTIVE);
        } finally {
            lease.release();
        }
    }
}
