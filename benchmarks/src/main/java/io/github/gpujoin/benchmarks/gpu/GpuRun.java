// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.ssb.SsbData;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Settings that all cases of a GPU benchmark run share.
 *
 * @param options of the engines
 * @param nativeBench the native benchmark program
 * @param ceilings of the machine, measured before the cases
 * @param log2Rows binary logarithm of the rows of the largest table of the resident joins, 29 on
 *     the full-sized machine; all other sizes scale with it
 * @param ssb returns the files and queries of the star schema benchmark; only its group asks
 * @param progress receives a line about each case that starts
 */
public record GpuRun(
        GpuOptions options,
        NativeBench nativeBench,
        Ceilings ceilings,
        int log2Rows,
        Supplier<SsbData> ssb,
        Consumer<String> progress) {

    /**
     * Returns the number of rows of a case, at least 1024.
     *
     * @param log2 binary logarithm of its rows on the full-sized machine
     */
    int rows(int log2) {
        return 1 << Math.max(10, log2 - (29 - log2Rows));
    }
}
