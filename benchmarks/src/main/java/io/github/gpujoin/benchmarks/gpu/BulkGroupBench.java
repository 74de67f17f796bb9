// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.kernels.binding.CudaDrivers;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Bulk joins of chunks in host memory on groups of 1, 2, 4 and 8 devices, as far as there are so
 * many: 2^28 x 2^30 tuples of 16 bytes, and a small build side, which is replicated. They need a
 * heap of 40 GB at full size.
 */
final class BulkGroupBench implements GpuBench {

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        int most = CudaDrivers.deviceCount();
        int[] groups = IntStream.of(1, 2, 4, 8).filter(devices -> devices <= most).toArray();
        List<Figure> figures = new ArrayList<>();
        for (int log2BuildRows : new int[] {28, 20}) {
            for (double zipf : new double[] {0, 1.5}) {
                BulkTuples tuples = BulkTuples.random(run.rows(log2BuildRows), run.rows(30), zipf);
                for (int devices : groups) {
                    figures.add(BulkCase.ofCount(run, tuples, devices).measure());
                    figures.add(BulkCase.ofSums(run, tuples, devices).measure());
                }
            }
        }
        return figures;
    }
}
