// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.GridMode;
import io.github.gpujoin.kernels.gpu.SegmentFeed;
import io.github.gpujoin.kernels.gpu.SegmentFeed.DoneStep;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import io.github.gpujoin.kernels.gpu.StepOutput;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The serving kernel of the GPU engine, whose workers are thread blocks. Facts lie ready in its
 * ring, and a lap counts matches, so that nothing is measured but reading and joining; results are
 * given and summed once more after it. A mode is the kernel's for as long as it runs, so that a lap
 * in another mode than the one before opens the device again and builds the tables anew.
 */
final class GpuSkewEngine implements SkewEngine {

    /** Segments asked for at once: more than there are blocks, so that all of them find work. */
    private static final int IN_FLIGHT = 512;

    private static final List<Mode> MODES =
            List.of(
                    mode(
                            GridMode.STATIC,
                            "every lane of partitions keeps the same number of blocks"),
                    mode(
                            GridMode.HISTOGRAM,
                            "a lane has blocks by its share of recent facts, redistributed as the share drifts"),
                    mode(
                            GridMode.ADAPTIVE,
                            "an idle block processes the next segment of any lane"));

    private final OrdersStar star;
    private @Nullable Mode current;
    private @Nullable SegmentReplay replay;

    GpuSkewEngine(OrdersStar star) {
        this.star = star;
        open(MODES.get(0));
    }

    private static Mode mode(GridMode grid, String meaning) {
        return new Mode(grid.name().toLowerCase(Locale.ROOT), meaning);
    }

    private void open(Mode mode) {
        if (mode.equals(current)) {
            return;
        }
        close();
        GridMode grid = GridMode.valueOf(mode.name().toUpperCase(Locale.ROOT));
        GpuOptions options = GpuOptions.defaults().withGridMode(grid);
        replay = new SegmentReplay(star.spec(), options, List.of());
        current = mode;
        star.build(replay::submitBuild);
        replay.finishBuild();
    }

    @Override
    public String name() {
        return "GPU, " + workers() + " thread blocks";
    }

    @Override
    public int workers() {
        return replay.blocks();
    }

    @Override
    public List<Mode> modes() {
        return MODES;
    }

    @Override
    public Lap join(Mode mode, SkewedFacts facts) {
        open(mode);
        int inFlight = Math.min(IN_FLIGHT, facts.chunks().size());
        List<DoneStep> steps = new ArrayList<>();
        SegmentFeed.Served counted;
        try (SegmentFeed feed = replay.feed(facts.chunks(), inFlight, StepOutput.COUNT)) {
            feed.serveOnceTimed(step -> {});
            counted = feed.serveOnceTimed(steps::add);
        }
        JoinAnswer[] answer = {JoinAnswer.NOTHING};
        try (SegmentFeed feed = replay.feed(facts.chunks(), inFlight, StepOutput.PLAIN_RESULTS)) {
            feed.serveOnce(batch -> answer[0] = answer[0].plus(OrdersStar.answerOf(batch)));
        }
        if (counted.results() != answer[0].count()) {
            throw new IllegalStateException(
                    "Emitted matches differ from counted ones: counted=%d, emitted=%d"
                            .formatted(counted.results(), answer[0].count()));
        }
        return new Lap(answer[0], counted.elapsedNs(), spans(steps, facts));
    }

    /** A span for each step, from the first step's start. */
    private static List<Span> spans(List<DoneStep> steps, SkewedFacts facts) {
        long startNs = steps.stream().mapToLong(DoneStep::startedNs).min().orElse(0);
        return steps.stream()
                .sorted(Comparator.comparingLong(DoneStep::startedNs))
                .map(
                        step ->
                                new Span(
                                        step.block(),
                                        facts.chunks().get(step.chunk()).partition(),
                                        step.startedNs() - startNs,
                                        step.startedNs() - startNs + step.busyNs()))
                .toList();
    }

    @Override
    public void close() {
        if (replay != null) {
            replay.close();
            replay = null;
            current = null;
        }
    }
}
