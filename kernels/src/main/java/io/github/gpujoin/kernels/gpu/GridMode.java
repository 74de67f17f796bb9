package io.github.gpujoin.kernels.gpu;

/**
 * How the thread blocks of the serving kernel are dealt to partitions of the facts. All modes give
 * the same results; they differ under skew. {@link #STATIC} and {@link #HISTOGRAM} are those of
 * Thostrup et al., "Distributed GPU Joins on Fast RDMA-capable Networks", section 4.3, kept for
 * comparison.
 */
public enum GridMode {
    /** Every lane of partitions has the same number of blocks for good. */
    STATIC,
    /**
     * Every lane of partitions has blocks in proportion to its share of recent rows, one at least.
     * Blocks look up their lane before each step, so drift is followed while the kernel runs.
     */
    HISTOGRAM,
    /** Every block takes whatever step comes next. */
    ADAPTIVE
}
