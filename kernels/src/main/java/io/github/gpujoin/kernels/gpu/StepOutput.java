// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** What the kernel writes to host memory for the facts of a {@link SegmentFeed}. */
public enum StepOutput {
    /** The number of results of each step. */
    COUNT,
    /** Results with a row number and whole payload values each. */
    PLAIN_RESULTS,
    /** Packed results, of a join in which no fact has more than one. */
    PACKED_RESULTS
}
