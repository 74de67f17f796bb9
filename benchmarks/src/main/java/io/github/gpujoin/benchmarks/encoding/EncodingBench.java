// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.encoding;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Rounds;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.Tuples;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Rates of the CPU engine that receives plain and encoded chunks of the same facts. */
public final class EncodingBench {

    private static final long SEED = 15;

    private EncodingBench() {}

    /**
     * Measures each build side with plain and encoded facts in one run.
     *
     * @param buildRows sizes of the build side; keys are 0 to size - 1
     * @param progress receives a line for each run
     */
    public static List<ContenderResult> probe(
            List<Integer> buildRows,
            long probeRows,
            int threads,
            int rounds,
            Consumer<String> progress)
            throws Exception {
        List<ContenderResult> results = new ArrayList<>();
        for (int rows : buildRows) {
            Tuples tuples = Tuples.generate(rows, probeRows, KeyDomain.DENSE, SEED);
            try (Contender plain = new ReceivingContender("plain-" + rows, tuples, false, threads);
                    Contender encoded =
                            new ReceivingContender("encoded-" + rows, tuples, true, threads)) {
                results.addAll(new Rounds(List.of(plain, encoded), progress).run(rounds));
            }
        }
        return results;
    }
}
