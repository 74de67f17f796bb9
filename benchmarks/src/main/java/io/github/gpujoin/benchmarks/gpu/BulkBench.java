// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.local.BulkQuery;
import java.util.ArrayList;
import java.util.List;

/**
 * Bulk joins of chunks in host memory through their Java class, 2^27 x 2^29 tuples of 16 bytes on
 * the full-sized machine, and 2^25 x 2^27 tuples with keys of several types. The figure is the rate
 * of the kernels that partition and find all pairs of row numbers; parameters have the time of the
 * rest: loading, and reading results.
 */
final class BulkBench implements GpuBench {

    static final String NAME = "bulk-join";

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        List<Figure> figures = new ArrayList<>();
        for (double zipf : new double[] {0, 1.0, 1.5}) {
            BulkTuples tuples = BulkTuples.random(run.rows(27), run.rows(29), zipf);
            for (BulkQuery query : new BulkQuery[] {BulkQuery.ROWS, BulkQuery.SUMS}) {
                figures.add(BulkCase.of(run, tuples, query).measure());
            }
        }
        for (BulkKey key : BulkKey.values()) {
            BulkTuples tuples = BulkTuples.random(key, run.rows(25), run.rows(27), 0);
            figures.add(BulkCase.of(run, tuples, BulkQuery.ROWS).measure());
        }
        BulkTuples ordered = BulkTuples.ordered(run.rows(27), run.rows(29));
        figures.add(BulkCase.of(run, ordered, BulkQuery.ROWS).measure());
        return figures;
    }
}
