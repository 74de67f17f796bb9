// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.benchmarks.skew.SkewEngine.Lap;
import io.github.gpujoin.benchmarks.skew.SkewEngine.Mode;
import io.github.gpujoin.benchmarks.skew.SkewEngine.Span;
import io.github.gpujoin.benchmarks.skew.SkewedFacts.HeavyKey;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import java.util.List;
import org.junit.jupiter.api.Test;

class SkewAdviceTest {

    private static final Mode STATIC = new Mode("static", "for good");
    private static final Mode ADAPTIVE = new Mode("adaptive", "the next chunk");

    private static SkewedFacts facts(long heaviestRows, long... partitionRows) {
        return new SkewedFacts(
                1,
                List.of(),
                partitionRows,
                List.of(new HeavyKey(17, 0, heaviestRows)),
                JoinAnswer.NOTHING);
    }

    private static SkewRun run(Mode mode, SkewedFacts facts, long elapsedNs, Span... spans) {
        return new SkewRun(mode, facts, new Lap(JoinAnswer.NOTHING, elapsedNs, List.of(spans)));
    }

    @Test
    void shouldNameTheWorkerThatAllWaitFor() {
        SkewedFacts facts = facts(1, 250, 250, 250, 250);
        List<SkewRun> runs =
                List.of(
                        run(STATIC, facts, 200, new Span(0, 0, 0, 50), new Span(1, 1, 0, 200)),
                        run(ADAPTIVE, facts, 125, new Span(0, 0, 0, 125), new Span(1, 1, 0, 125)));
        assertThat(SkewAdvice.of(runs, 2))
                .singleElement()
                .asString()
                .contains("Keep adaptive", "static has 63 %", "worker 1", "38 % of the time");
    }

    @Test
    void shouldAdviseNothingWhereNoModeIsSlower() {
        SkewedFacts facts = facts(1, 250, 250, 250, 250);
        List<SkewRun> runs = List.of(run(STATIC, facts, 101), run(ADAPTIVE, facts, 100));
        assertThat(SkewAdvice.of(runs, 2)).singleElement().asString().startsWith("Leave it to");
    }

    @Test
    void shouldSayWithBothRatesThatAnotherModeIsFaster() {
        SkewedFacts facts = facts(1, 250, 250, 250, 250);
        List<SkewRun> runs = List.of(run(STATIC, facts, 8_000), run(ADAPTIVE, facts, 10_000));
        assertThat(SkewAdvice.of(runs, 2))
                .singleElement()
                .asString()
                .contains("static joins 125.0 million", "and it 100.0");
    }

    @Test
    void shouldTellOfAHeavyKeyAndOfItsPartition() {
        SkewedFacts facts = facts(600, 700, 100, 100, 100);
        List<SkewRun> runs = List.of(run(STATIC, facts, 100), run(ADAPTIVE, facts, 100));
        assertThat(SkewAdvice.of(runs, 2))
                .anySatisfy(line -> assertThat(line).contains("Customer 17 alone has 60 %"))
                .anySatisfy(
                        line ->
                                assertThat(line)
                                        .contains(".replicated()", "one of the 4", "has 70 %")
                                        .contains("more than 1 subtasks"));
    }
}
