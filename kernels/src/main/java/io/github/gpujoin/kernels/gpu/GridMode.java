// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * How thread blocks of the serving kernel are assigned to partitions of the facts. All modes return
 * the same results; they differ under skew. {@link #STATIC} and {@link #HISTOGRAM} follow Thostrup
 * et al., "Distributed GPU Joins on Fast RDMA-capable Networks", section 4.3, and are kept for
 * comparison.
 */
public enum GridMode {
    /** Every lane of partitions always has the same number of blocks. */
    STATIC,
    /**
     * Every lane of partitions has blocks in proportion to its share of recent bytes, at least one;
     * before facts arrive, in proportion to its build rows in this process, if they are known.
     * Blocks reread their lane before each step, so the assignment follows drift while the kernel
     * runs.
     */
    HISTOGRAM,
    /** Every block claims the next step, whatever its partition. */
    ADAPTIVE
}
