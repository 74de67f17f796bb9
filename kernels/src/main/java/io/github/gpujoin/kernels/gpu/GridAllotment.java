package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.histogram.RunningHistogram;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;

/**
 * Which blocks of the serving kernel serve which lane of partitions, and which lane a step goes to.
 * The allotment stands in mapped host memory, where the kernel reads it again whenever its version
 * changes. Every lane has a block at any time, so that no step waits for ever. Not thread-safe.
 */
final class GridAllotment {

    static final int MAX_LANES = 64;

    /** Steps between two looks at the histogram. */
    private static final int STEPS_PER_DEAL = 256;

    /** About 10 ms of a bus of 50 GB/s. */
    private static final long WINDOW_BYTES = 512L << 20;

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
     * Lanes are a power of two, as partitions are, with two blocks each where that many can be: a
     * lane of one would stand still while its block goes from step to step.
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

    /** Blocks that serve a lane now. */
    int blocksOf(int lane) {
        return (int) Arrays.stream(laneOfBlock).filter(own -> own == lane).count();
    }

    /** The lane of a partition's steps; those of no partition take lanes in turn. */
    int laneOf(int partition, long segmentSequence) {
        long turn = partition == ChunkDescriptor.UNPARTITIONED ? segmentSequence : partition;
        return (int) Math.floorMod(turn, (long) lanes);
    }

    /** Counts a step, by its bytes as that is what it takes of the bus. */
    void count(int lane, int lengthBytes) {
        if (mode != GridMode.HISTOGRAM) {
            return;
        }
        histogram.add(lane, lengthBytes);
        if (++stepsSinceDeal == STEPS_PER_DEAL) {
            stepsSinceDeal = 0;
            if (move(laneOfBlock, deal(histogram, laneOfBlock.length))) {
                publish();
            }
        }
    }

    /**
     * Deals blocks to lanes in proportion to their share, one each at least, the largest remainders
     * first.
     *
     * @param blocks as many as there are lanes at least
     * @return how many blocks each lane gets
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
     * Moves as few blocks as it takes to give each lane its number.
     *
     * @return whether any moved
     */
    static boolean move(int[] laneOfBlock, int[] dealt) {
        int[] missing = dealt.clone();
        for (int lane : laneOfBlock) {
            missing[lane]--;
        }
        boolean moved = false;
        int taker = 0;
        for (int block = 0; block < laneOfBlock.length; block++) {
            if (missing[laneOfBlock[block]] < 0) {
                while (missing[taker] <= 0) {
                    taker++;
                }
                missing[laneOfBlock[block]]++;
                missing[taker]--;
                laneOfBlock[block] = taker;
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
        // release: a block that sees the version reads an allotment at least as new
        Memory.putLongRelease(null, control + StepDescriptor.CONTROL_ALLOTMENT_OFFSET, ++version);
    }
}
