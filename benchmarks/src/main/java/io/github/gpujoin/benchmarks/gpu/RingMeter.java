// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.kernels.gpu.SegmentFeed;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import io.github.gpujoin.kernels.gpu.StepOutput;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Measures what the serving kernel makes of facts that lie ready in its ring. */
final class RingMeter {

    /**
     * Facts that take turns, all different: slots and sectors of their build rows are more than the
     * device's caches hold. More would spread over more slots than an engine has.
     */
    private static final int FACTS = 2 << 20;

    private static final int MAX_SEGMENTS = 4096;
    private static final int IN_FLIGHT_BYTES = 32 << 20;
    private static final int MIN_IN_FLIGHT = 192;
    private static final int MAX_IN_FLIGHT = 1024;
    private static final long ROUND_NS = 80_000_000L;

    private final GpuRun run;
    private final SegmentReplay replay;

    /**
     * Facts and what they give.
     *
     * @param answerOf what a batch of results says
     */
    record Work(
            List<Chunk> facts, JoinAnswer expected, Function<ResultBatch, JoinAnswer> answerOf) {

        int chunkRows() {
            return facts.get(0).rowCount();
        }

        double resultsPerFact() {
            return expected.count() / ((double) facts.size() * chunkRows());
        }
    }

    RingMeter(GpuRun run, SegmentReplay replay) {
        this.run = run;
        this.replay = replay;
    }

    /** Segments asked for at once: enough bytes to fill the bus, enough to keep all blocks busy. */
    int inFlight(int chunkRows) {
        int fit = IN_FLIGHT_BYTES / replay.plainBytes(chunkRows);
        return Math.max(MIN_IN_FLIGHT, Math.min(MAX_IN_FLIGHT, fit));
    }

    /** Chunks of so many rows, each with that many results, that a case is measured with. */
    int chunks(int chunkRows, int resultsPerFact) {
        int wanted = FACTS / resultsPerFact / chunkRows;
        return Math.max(inFlight(chunkRows), Math.min(MAX_SEGMENTS, wanted));
    }

    /**
     * Rate of facts, 10^9 a second.
     *
     * @param output what the kernel writes to host memory; results are read there after the last
     *     round
     */
    Figure measure(String name, Map<String, ?> parameters, Work work, StepOutput output) {
        try (SegmentFeed feed = feed(work, output)) {
            feed.serve(ROUND_NS);
            List<Double> rounds = new ArrayList<>();
            for (int round = 0; round < GpuBench.ROUNDS; round++) {
                SegmentFeed.Served served = feed.serve(ROUND_NS);
                rounds.add((double) served.rows() / served.elapsedNs());
            }
            Figure figure =
                    checked(Figure.of(name, parameters, "Grows/s", rounds), feed, work, output);
            double bytesIn = (double) feed.segmentBytes() / work.chunkRows();
            double bytesOut = feed.resultRowBytes() * work.resultsPerFact();
            Figure bounded =
                    run.ceilings().bound(figure, replay.options().ringMemory(), bytesIn, bytesOut);
            run.progress().accept(bounded.line());
            return bounded;
        }
    }

    SegmentFeed feed(Work work, StepOutput output) {
        return replay.feed(work.facts(), inFlight(work.chunkRows()), output);
    }

    /** Serves all facts once more and compares what they give. */
    static Figure checked(Figure figure, SegmentFeed feed, Work work, StepOutput output) {
        boolean countOnly = output == StepOutput.COUNT;
        JoinAnswer[] answer = {JoinAnswer.NOTHING};
        SegmentFeed.Served once =
                feed.serveOnce(
                        batch -> {
                            if (!countOnly) {
                                answer[0] = answer[0].plus(work.answerOf().apply(batch));
                            }
                        });
        boolean countIsRight = once.results() == work.expected().count();
        if (countOnly) {
            return figure.checked(countIsRight, once.results(), null);
        }
        boolean right = countIsRight && answer[0].equals(work.expected());
        return figure.checked(right, answer[0].count(), answer[0].checksum());
    }
}
