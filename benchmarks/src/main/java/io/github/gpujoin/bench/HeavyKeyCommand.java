// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.flink.HeavyKeyJoin;
import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.OutputFile;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.systemtests.soak.MemorySample;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The most results that so many rows can have. */
@Command(
        name = "heavy-key",
        description = {
            "Joins two sides whose rows all have one key, and fails if a result is missing or if"
                    + " memory grows with the results.",
            "Results are counted and summed, and dropped."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class HeavyKeyCommand implements Callable<Integer> {

    /** Sums of payloads fit in 63 bits. */
    private static final int MAX_ROWS = 1_000_000;

    private static final long SLACK_BYTES = 128L << 20;
    private static final long POLL_MS = 500;

    /** How the build side comes to the subtasks. */
    enum Distribution {
        REPLICATED,
        PARTITIONED
    }

    @Spec private CommandSpec spec;

    @Option(names = "--rows", description = "Of either side.")
    private int rows = 100_000;

    @Option(names = "--distribution", description = "Of the build side: ${COMPLETION-CANDIDATES}.")
    private Distribution distribution = Distribution.PARTITIONED;

    @Option(names = "--threads", description = "Slots of the embedded cluster.")
    private int threads = 2;

    @Option(names = "--json", converter = OutputFile.class, description = "File for all figures.")
    private @Nullable Path json;

    private long heapBytes;
    private long regionBytes;

    @Override
    public Integer call() throws Exception {
        if (rows < 1 || rows > MAX_ROWS || threads < 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Rows are not within 1 and %d, or threads are not positive: rows=%d, threads=%d"
                            .formatted(MAX_ROWS, rows, threads));
        }
        Observations observations =
                new Observations(Bench.typed(spec), spec.commandLine().getOut());
        long heapBefore = MemorySample.take().heapBytes();
        long startNs = System.nanoTime();
        JoinAnswer answer = joined();
        double seconds = (System.nanoTime() - startNs) / 1e9;
        long heapGrowth = Math.max(0, heapBytes - heapBefore);
        observations.add(
                "heavy-key",
                "rows",
                rows,
                "results",
                answer.count(),
                "seconds",
                seconds,
                "results_per_second",
                answer.count() / seconds,
                "result_bytes",
                answer.count() * TupleSchemas.TUPLE_BYTES,
                "max_heap_growth_bytes",
                heapGrowth,
                "max_region_bytes",
                regionBytes);
        if (json != null) {
            observations.write(json);
        }
        requireAll(answer);
        return requireFlat(heapGrowth);
    }

    private JoinAnswer joined() throws Exception {
        long expectedBytes = distribution == Distribution.PARTITIONED ? Long.MAX_VALUE : 0;
        try (HeavyKeyJoin join = HeavyKeyJoin.start(rows, threads, expectedBytes)) {
            while (!join.isDone()) {
                TimeUnit.MILLISECONDS.sleep(POLL_MS);
                MemorySample sample = MemorySample.take();
                heapBytes = Math.max(heapBytes, sample.heapBytes());
                regionBytes = Math.max(regionBytes, sample.regionBytes());
            }
            return join.answer();
        }
    }

    private void requireAll(JoinAnswer answer) {
        // Payloads of both sides are 0 to rows - 1, and each meets each.
        JoinAnswer expected = new JoinAnswer((long) rows * rows, (long) rows * rows * (rows - 1));
        if (!answer.equals(expected)) {
            throw new IllegalStateException(
                    "each fact meets each build row once: expected=%s, answer=%s"
                            .formatted(expected, answer));
        }
    }

    private int requireFlat(long heapGrowth) {
        if (heapGrowth <= SLACK_BYTES && regionBytes <= SLACK_BYTES) {
            return 0;
        }
        spec.commandLine()
                .getErr()
                .printf(
                        "Memory grew with the results: heapGrowthBytes=%d, regionBytes=%d,"
                                + " slackBytes=%d%n",
                        heapGrowth, regionBytes, SLACK_BYTES);
        return 1;
    }
}
