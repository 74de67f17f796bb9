// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import java.util.List;

/** An engine with the built star, and the ways in which it gives work to its workers. */
interface SkewEngine extends AutoCloseable {

    /** How work is given to workers; {@code meaning} is a sentence for the report. */
    record Mode(String name, String meaning) {}

    /** A time in which one worker joined facts of one partition, from the start of the lap. */
    record Span(int worker, int partition, long startNs, long endNs) {}

    /** All facts joined once. */
    record Lap(JoinAnswer answer, long elapsedNs, List<Span> spans) {}

    /** Where it joins, for the report. */
    String name();

    int workers();

    /** In which work is given with the least and with the most regard to load, at the ends. */
    List<Mode> modes();

    Lap join(Mode mode, SkewedFacts facts) throws Exception;

    @Override
    void close();
}
