// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import java.util.List;

/**
 * The joins of the papers that this project follows, of tables in device memory: by hash and by
 * sort-merge, on one device beside CUB, and on as many others as there are.
 */
final class PaperJoinsBench implements GpuBench {

    /** A native program beside that of the other measurements. */
    private static final String PROGRAM = "bulk_bench";

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        return run.nativeBench().sibling(PROGRAM).run("papers", run.log2Rows());
    }
}
