package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kernels.gpu.SegmentFeed;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import java.util.ArrayList;
import java.util.List;

/**
 * The pipelined join beside the blocking one (GPJ-B), on the workload of Thostrup et al., figure 9:
 * 600 million build tuples and up to 4000 million probe tuples of 16 bytes, which together are more
 * than half of the device's memory. Every probe tuple has one match, and 16 bytes of result.
 *
 * <p>Both begin with the tables in host memory. The time of the pipelined join is that of copying
 * and inserting the build side and of serving the probe side, one after the other.
 */
final class BlockingBench implements GpuBench {

    static final String BLOCKING = "blocking-join";
    static final String PIPELINED = "pipelined-join";

    /** Probe rows in host memory, which are read again and again. */
    private static final long SOURCE_ROWS = 100_000_000;

    private static final int BUILD_SOURCES = 6;
    private static final int[] PROBE_SOURCES = {12, 24, 40};
    private static final int SOURCES_A_CHUNK = 10;
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
                        16,
                        List.of(ColumnType.INT32, ColumnType.INT64),
                        Math.toIntExact(BUILD_SOURCES * source),
                        1);
        run.progress().accept("building " + workload);
        try (SegmentReplay replay =
                new SegmentReplay(workload.spec(), run.options(), workload.allFactColumns())) {
            workload.build(chunk -> replay.submitBuild(0, chunk));
            long startNs = System.nanoTime();
            replay.finishBuild();
            double buildS = (System.nanoTime() - startNs) / 1e9;
            int rows = RingBench.CHUNK_ROWS;
            RingMeter meter = new RingMeter(run, replay);
            RingWorkload.Facts facts = workload.facts(meter.chunks(rows, 1), rows, SEED);
            RingMeter.Work work =
                    new RingMeter.Work(
                            facts.chunks(),
                            facts.expected(),
                            workload::answerOf,
                            workload.resultRowBytes());
            List<Figure> figures = new ArrayList<>();
            try (SegmentFeed feed = meter.feed(work, false)) {
                for (int sources : PROBE_SOURCES) {
                    run.progress().accept("measuring " + PIPELINED + " sources=" + sources);
                    figures.add(
                            RingMeter.checked(
                                    serve(feed, replay, sources * source, buildS, workload),
                                    feed,
                                    work,
                                    false));
                }
            }
            return figures;
        }
    }

    private static Figure serve(
            SegmentFeed feed,
            SegmentReplay replay,
            long probeRows,
            double buildS,
            RingWorkload workload) {
        long segments = (probeRows + RingBench.CHUNK_ROWS - 1) / RingBench.CHUNK_ROWS;
        List<Double> seconds = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            seconds.add(buildS + feed.serveSegments(segments).elapsedNs() / 1e9);
        }
        return Figure.of(
                PIPELINED,
                Figure.parameters(
                        "build_rows",
                        workload.buildRows(),
                        "probe_rows",
                        probeRows,
                        "build_ms",
                        Math.round(1e3 * buildS),
                        "table_bytes",
                        replay.tableBytes()),
                "s",
                seconds);
    }
}
