// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import java.util.List;

/** Joins of tables in device memory, beside a sort-merge join of the toolkit's own parts. */
final class ResidentBench implements GpuBench {

    static final String NAME = "resident-join";
    static final String PEER = "sort-merge-join";

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        return run.nativeBench()
                .run("resident", run.log2Rows(), "all", run.ceilings().deviceCopyGbPerS());
    }
}
