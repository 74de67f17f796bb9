// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceJoinEngine;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OrdersStarTest {

    private static final long SEED = 7;
    private final OrdersStar star = new OrdersStar(1 << 12);

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.5, 1, 2})
    void shouldExpectWhatTheReferenceEngineGives(double zipf) {
        SkewedFacts facts = star.facts(20_000, zipf, SEED);
        JoinAnswer answer = JoinAnswer.NOTHING;
        try (ReferenceJoinEngine engine = new ReferenceJoinEngine(star.spec())) {
            star.build(engine::submitBuild);
            engine.finishBuild();
            for (Chunk chunk : facts.chunks()) {
                engine.submitProbe(chunk, 0);
                while (engine.inFlightCount() > 0) {
                    ResultBatch batch = engine.poll();
                    answer = batch == null ? answer : answer.plus(OrdersStar.answerOf(batch));
                }
            }
        }
        assertThat(answer).isEqualTo(facts.expected());
    }

    @Test
    void shouldPutEachFactIntoItsPartitionsChunks() {
        SkewedFacts facts = star.facts(50_000, 1, SEED);
        long[] rows = new long[OrdersStar.PARTITIONS];
        for (Chunk chunk : facts.chunks()) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                assertThat(OrdersStar.partitionOf(chunk.getLong(0, row)))
                        .isEqualTo(chunk.partition());
            }
            rows[chunk.partition()] += chunk.rowCount();
        }
        assertThat(rows).isEqualTo(facts.partitionRows());
        assertThat(facts.rows()).isEqualTo(50_000);
    }

    @Test
    void shouldGiveTheFirstCustomersTheSharesOfZipfsLaw() {
        SkewedFacts facts = star.facts(200_000, 1.5, SEED);
        double all = 0;
        for (int rank = 1; rank <= star.customers(); rank++) {
            all += Math.pow(rank, -1.5);
        }
        for (int rank = 1; rank <= 3; rank++) {
            double expected = Math.pow(rank, -1.5) / all;
            assertThat(facts.heaviest().get(rank - 1).rows() / 200_000.0)
                    .isBetween(0.95 * expected, 1.05 * expected);
        }
    }

    @Test
    void shouldDrawTheSameFactsFromTheSameSeed() {
        SkewedFacts one = star.facts(10_000, 1, SEED);
        SkewedFacts two = star.facts(10_000, 1, SEED);
        assertThat(one.expected()).isEqualTo(two.expected());
        assertThat(Arrays.equals(one.partitionRows(), two.partitionRows())).isTrue();
        assertThat(one.chunks()).isEqualTo(two.chunks());
    }
}
