// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.util.function.Consumer;

/**
 * What all cases of one run share.
 *
 * @param ceilings of the machine, measured before
 * @param log2Rows rows of the largest table of the resident joins, as a power of two; all other
 *     sizes follow it
 * @param progress takes a line about what is done now
 */
public record GpuRun(
        GpuOptions options,
        NativeBench nativeBench,
        Ceilings ceilings,
        int log2Rows,
        Consumer<String> progress) {

    /** The size that cases on the full-sized machine have 2^n rows for, scaled like all others. */
    int rows(int log2) {
        return 1 << Math.max(10, log2 - (29 - log2Rows));
    }
}
