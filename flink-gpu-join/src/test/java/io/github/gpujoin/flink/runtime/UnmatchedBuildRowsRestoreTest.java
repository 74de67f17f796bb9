// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static io.github.gpujoin.flink.runtime.PairScenario.BUILD;
import static io.github.gpujoin.flink.runtime.PairScenario.PROBE;
import static io.github.gpujoin.flink.runtime.PairScenario.chunks;
import static io.github.gpujoin.flink.runtime.PairScenario.expected;
import static io.github.gpujoin.flink.runtime.PairScenario.feed;
import static io.github.gpujoin.flink.runtime.PairScenario.open;
import static io.github.gpujoin.flink.runtime.PairScenario.records;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.emit.PairKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.types.Row;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Right and full joins restored at every step, with another parallelism. */
@ExtendWith(RegionLeakExtension.class)
class UnmatchedBuildRowsRestoreTest {

    /** Step at which the snapshot is taken. */
    enum Step {
        HALF_LOADED,
        LOADED,
        HALF_JOINED,
        FACTS_ENDED,
        HALF_EMITTED,
        FINISHED
    }

    @AfterEach
    void resetUnmatchedRowTime() {
        PairScenario.unmatchedRowNs = 0;
    }

    @ParameterizedTest(name = "{0} from {1} to {2} subtasks")
    @CsvSource({
        "RIGHT, 1, 1", "RIGHT, 2, 3", "RIGHT, 3, 1", "RIGHT, 8, 2",
        "FULL, 1, 1", "FULL, 1, 8", "FULL, 2, 3", "FULL, 3, 2"
    })
    void shouldEmitEveryUnmatchedBuildRowOnceAcrossARestoreAtAnyStep(
            PairKind kind, int from, int to) throws Exception {
        for (Step step : Step.values()) {
            Random random = new Random(from * 31L + to);
            List<Row> builds = records(random, 400);
            List<Row> probes = records(random, 300);
            assertThat(joinInTwoParts(kind, step, from, to, builds, probes))
                    .as("%s", step)
                    .containsExactlyInAnyOrderElementsOf(expected(kind, builds, probes));
        }
    }

    private static List<String> joinInTwoParts(
            PairKind kind, Step step, int from, int to, List<Row> builds, List<Row> probes)
            throws Exception {
        List<Chunk> build = chunks(BUILD, builds, 0);
        List<Chunk> facts = chunks(PROBE, probes, ChunkDescriptor.FACTS);
        int built = step == Step.HALF_LOADED ? build.size() / 2 : build.size();
        int probed = step.compareTo(Step.HALF_JOINED) <= 0 ? facts.size() / 2 : facts.size();
        List<String> results = new ArrayList<>();
        OperatorSubtaskState state;
        List<JoinHarness> before = open(kind, from, from, null);
        try {
            feed(before, build.subList(0, built), facts.subList(0, probed));
            List<OperatorSubtaskState> states = new ArrayList<>();
            for (JoinHarness harness : before) {
                advance(harness, step);
                if (step == Step.HALF_EMITTED && from == 1) {
                    assertThat(harness.getTaskMailbox().hasMail()).as("rows are left").isTrue();
                }
                states.add(harness.snapshot(1, 1));
                results.addAll(harness.results());
            }
            state =
                    AbstractStreamOperatorTestHarness.repackageState(
                            states.toArray(OperatorSubtaskState[]::new));
        } finally {
            IOUtils.closeAll(before);
        }
        List<JoinHarness> after = open(kind, to, from, state);
        try {
            feed(after, build.subList(built, build.size()), facts.subList(probed, facts.size()));
            for (JoinHarness harness : after) {
                harness.endBuild();
                harness.probeWatermark(Long.MAX_VALUE);
                harness.endProbe();
                harness.finish();
                results.addAll(harness.results());
            }
        } finally {
            IOUtils.closeAll(after);
        }
        return results;
    }

    private static void advance(JoinHarness harness, Step step) throws Exception {
        if (step.compareTo(Step.LOADED) <= 0) {
            return;
        }
        harness.endBuild();
        harness.runMails(1_000);
        if (step.compareTo(Step.FACTS_ENDED) >= 0) {
            harness.probeWatermark(Long.MAX_VALUE);
            harness.endProbe();
        }
        if (step == Step.HALF_EMITTED) {
            PairScenario.unmatchedRowNs = 2_000_000;
            harness.runMails(1);
            PairScenario.unmatchedRowNs = 0;
        }
        if (step == Step.FINISHED) {
            harness.finish();
        }
    }
}
