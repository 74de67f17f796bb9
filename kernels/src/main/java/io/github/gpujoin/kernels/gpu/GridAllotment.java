// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.BuildShare;
import io.github.gpujoin.core.histogram.RunningHistogram;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;

/**
 * Assigns blocks of the serving kernel to lanes of partitions, and steps to lanes. The allotment is
 * in mapped host memory; the kernel rereads it when its version changes. Every lane always has a
 * block, so no step waits forever. Not thread-safe.
 */
final class GridAllotment {

    static final int MAX_LANES = 64;

    /** Steps between two evaluations of the histogram. */
    private static final int STEPS_PER_DEAL = 256;

    /** Bytes that the histogram covers: about 10 ms of a bus of 50 GB/s. */
    private static final long WINDOW_BYTES = 512L << 20;

    /**
     * Weight of what is expected: that of so many bytes of facts, so that the facts that arrive
     * outweigh it soon.
     */
    private static final long EXPECTED_BYTES = WINDOW_BYTES / 8;

    private static final int LANES_PER_WORD = Long.BYTES;

    private final GridMode mode;
    private final int[] laneOfBlock;
    private final int lanes;
    private final RunningHistogram histogram;
    private final long control;
    private int version;
    private int stepsSinceDeal;

    /**
     * @param control address of the Control words, {@link #controlBytes} long
     */
    GridAllotment(GridMode mode, int blocks, long control) {
        this.mode = mode;
        this.control = control;
        this.lanes = lanesOf(mode, blocks);
        this.histogram = new RunningHistogram(lanes, WINDOW_BYTES);
        this.laneOfBlock = new int[blocks];
        Arrays.setAll(laneOfBlock, block -> block % lanes);
        publish();
    }

    /**
     * Returns the number of lanes: a power of two, like the number of partitions, and two blocks a
     * lane if possible. A lane with one block would be idle while the block changes steps.
     */
    static int lanesOf(GridMode mode, int blocks) {
        if (mode == GridMode.ADAPTIVE) {
            return 1;
        }
        return Integer.highestOneBit(Math.max(1, Math.min(MAX_LANES, blocks / 2)));
    }

    static long controlBytes(int blocks) {
        return StepDescriptor.CONTROL_LANE_OF_OFFSET
                + (long) Long.BYTES * ((blocks + LANES_PER_WORD - 1) / LANES_PER_WORD);
    }

    int lanes() {
        return lanes;
    }

    /** Returns the number of blocks that serve a lane now. */
    int blocksOf(int lane) {
        return (int) Arrays.stream(laneOfBlock).filter(own -> own == lane).count();
    }

    /** Returns the partition of a step; a chunk with rows of many partitions has none. */
    static int partitionOf(Chunk chunk) {
        return chunk.hasManyPartitions() ? ChunkDescriptor.UNPARTITIONED : chunk.partition();
    }

    /**
     * Returns the lane of a step by its partition; steps without a partition use lanes round robin.
     */
    int laneOf(int partition, long segmentSequence) {
        long number = partition == ChunkDescriptor.UNPARTITIONED ? segmentSequence : partition;
        return (int) Math.floorMod(number, (long) lanes);
    }

    /** Counts a step by its bytes, since the bus is the bottleneck. */
    void count(int lane, int lengthBytes) {
        if (mode != GridMode.HISTOGRAM) {
            return;
        }
        histogram.add(lane, lengthBytes);
        if (++stepsSinceDeal == STEPS_PER_DEAL) {
            assign();
        }
    }

    /**
     * Assigns blocks by the build rows of a subtask, before its facts arrive: partitions are
     * expected to receive facts in proportion to their rows. Facts that have arrived count as well.
     */
    void expect(BuildShare share) {
        if (mode != GridMode.HISTOGRAM || share.processRows() == 0) {
            return;
        }
        double bytesPerRow = (double) EXPECTED_BYTES / share.processRows();
        for (int partition = 0; partition < share.partitions().partitions(); partition++) {
            long bytes = (long) (bytesPerRow * share.partitions().rows(partition));
            histogram.add(laneOf(partition, 0), bytes);
        }
        assign();
    }

    private void assign() {
        stepsSinceDeal = 0;
        if (move(laneOfBlock, deal(histogram, laneOfBlock.length))) {
            publish();
        }
    }

    /**
     * Distributes blocks to lanes in proportion to their share, at least one each, by largest
     * remainder.
     *
     * @param blocks at least the number of lanes
     * @return the number of blocks of each lane
     */
    static int[] deal(RunningHistogram histogram, int blocks) {
        int lanes = histogram.partitions();
        int[] dealt = new int[lanes];
        double[] remainder = new double[lanes];
        int left = blocks;
        for (int lane = 0; lane < lanes; lane++) {
            double fair = histogram.share(lane) * (blocks - lanes);
            dealt[lane] = 1 + (int) fair;
            remainder[lane] = fair - (int) fair;
            left -= dealt[lane];
        }
        for (; left > 0; left--) {
            int first = 0;
            for (int lane = 1; lane < lanes; lane++) {
                first = remainder[lane] > remainder[first] ? lane : first;
            }
            dealt[first]++;
            remainder[first]--;
        }
        return dealt;
    }

    /**
     * Moves the fewest blocks so that each lane has its number.
     *
     * @return whether any block moved
     */
    static boolean move(int[] laneOfBlock, int[] dealt) {
        int[] missing = dealt.clone();
        for (int lane : laneOfBlock) {
            missing[lane]--;
        }
        boolean moved = false;
        int target = 0;
        for (int block = 0; block < laneOfBlock.length; block++) {
            if (missing[laneOfBlock[block]] < 0) {
                while (missing[target] <= 0) {
                    target++;
                }
                missing[laneOfBlock[block]]++;
                missing[target]--;
                laneOfBlock[block] = target;
                moved = true;
            }
        }
        return moved;
    }

    private void publish() {
        for (int first = 0; first < laneOfBlock.length; first += LANES_PER_WORD) {
            long word = 0;
            int end = Math.min(first + LANES_PER_WORD, laneOfBlock.length);
            for (int block = first; block < end; block++) {
                word |= (long) laneOfBlock[block] << Byte.SIZE * (block - first);
            }
            Memory.putLong(control + StepDescriptor.CONTROL_LANE_OF_OFFSET + first, word);
        }
        // release: a block that sees the version reads this allotment or a newer one
        Memory.putLongRelease(null, control + StepDescriptor.CONTROL_ALLOTMENT_OFFSET, ++version);
    }
}
