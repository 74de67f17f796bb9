// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import java.util.List;

/** Some cases that belong together. */
interface GpuBench {

    /** Figures of one case each, in five rounds after a warm-up. */
    int ROUNDS = 5;

    List<Figure> run(GpuRun run) throws Exception;
}
