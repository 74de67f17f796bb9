// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kernels.gpu.SegmentFeed;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import io.github.gpujoin.kernels.gpu.StepOutput;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The pipelined join beside the blocking one (GPJ-B), on the workload of Thostrup et al., figure 9:
 * 600 million build tuples and up to 4000 million probe tuples of 16 bytes, which together are more
 * than half of the device's memory. Every probe tuple has one match.
 *
 * <p>Both begin with the tables in pinned host memory. The blocking join moves whole tuples, since
 * partitioning changes their order, and gives both payloads back, 16 bytes. The pipelined one is
 * measured as the engine does it, keys in and 12 bytes out, number of the fact and payload; and
 * with whole tuples in. Its time is that of copying and inserting the build side and then of
 * serving the probe side.
 */
final class BlockingBench implements GpuBench {

    static final String BLOCKING = "blocking-join";
    static final String PIPELINED = "pipelined-join";

    /** Probe rows in host memory, which are read again and again. */
    private static final long SOURCE_ROWS = 100_000_000;

    private static final int BUILD_SOURCES = 6;
    private static final int[] PROBE_SOURCES = {12, 24, 40};
    private static final int SOURCES_A_CHUNK = 10;
    private static final int TUPLE_BYTES = 16;
    private static final long SEED = 4;

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        List<Figure> figures = new ArrayList<>();
        long source = SOURCE_ROWS >> (29 - run.log2Rows());
        run.progress().accept("measuring " + BLOCKING);
        List<Object> arguments =
                new ArrayList<>(
                        List.of(
                                "blocking",
                                BUILD_SOURCES * source,
                                source,
                                SOURCES_A_CHUNK * source));
        for (int sources : PROBE_SOURCES) {
            arguments.add(sources * source);
        }
        figures.addAll(run.nativeBench().run(arguments.toArray()));
        figures.addAll(pipelined(run, source));
        return figures;
    }

    private static List<Figure> pipelined(GpuRun run, long source) {
        RingWorkload workload =
                new RingWorkload(
                        TUPLE_BYTES,
                        List.of(ColumnType.INT64),
                        Math.toIntExact(BUILD_SOURCES * source),
                        1);
        List<Figure> figures = new ArrayList<>();
        for (List<Integer> furtherColumns : List.of(List.<Integer>of(), List.of(1))) {
            run.progress().accept("building " + workload);
            try (SegmentReplay replay =
                    new SegmentReplay(workload.spec(), run.options(), furtherColumns)) {
                double buildS = build(run, replay, workload);
                figures.addAll(serve(run, replay, workload, source, buildS));
            }
        }
        return figures;
    }

    /** Seconds of the table, and of its columns on the bus at the rate of a copy. */
    private static double build(GpuRun run, SegmentReplay replay, RingWorkload workload) {
        workload.build(chunk -> replay.submitBuild(0, chunk));
        long startNs = System.nanoTime();
        replay.finishBuild();
        double tableS = (System.nanoTime() - startNs) / 1e9;
        double columnBytes = (double) TUPLE_BYTES * workload.buildRows();
        return columnBytes / run.ceilings().copyInGbPerS() / 1e9 + tableS;
    }

    private static List<Figure> serve(
            GpuRun run, SegmentReplay replay, RingWorkload workload, long source, double buildS) {
        int rows = RingBench.LARGE_CHUNK_ROWS;
        RingMeter meter = new RingMeter(run, replay);
        RingWorkload.Facts facts = workload.facts(meter.chunks(rows, 1), rows, SEED);
        RingMeter.Work work =
                new RingMeter.Work(facts.chunks(), facts.expected(), workload::answerOf);
        List<Figure> figures = new ArrayList<>();
        try (SegmentFeed feed = meter.feed(work, StepOutput.PLAIN_RESULTS)) {
            for (int sources : PROBE_SOURCES) {
                long segments = (sources * source + rows - 1) / rows;
                List<Double> seconds = new ArrayList<>();
                for (int round = 0; round < ROUNDS; round++) {
                    seconds.add(buildS + feed.serveSegments(segments).elapsedNs() / 1e9);
                }
                Map<String, Object> parameters =
                        Figure.parameters(
                                "build_rows", workload.buildRows(),
                                "probe_rows", sources * source,
                                "bytes_in", replay.plainBytes(rows) / rows,
                                "bytes_out", workload.resultRowBytes(),
                                "build_ms", Math.round(1e3 * buildS),
                                "table_bytes", replay.tableBytes());
                Figure figure = Figure.of(PIPELINED, parameters, "s", seconds);
                figures.add(RingMeter.checked(figure, feed, work, StepOutput.PLAIN_RESULTS));
                run.progress().accept(figures.get(figures.size() - 1).line());
            }
        }
        return figures;
    }
}
