// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.benchmarks.local.BulkQuery;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.reference.ReferenceBulkJoin;
import io.github.gpujoin.core.reference.ReferenceJoinEngine;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the workloads expect is what an engine gives that knows nothing of them. */
class WorkloadTest {

    private static final long SEED = 7;

    private static JoinAnswer join(
            JoinEngine engine, List<Chunk> facts, Function<ResultBatch, JoinAnswer> answerOf) {
        JoinAnswer answer = JoinAnswer.NOTHING;
        engine.finishBuild();
        for (Chunk chunk : facts) {
            assertThat(engine.submitProbe(chunk, 0)).isTrue();
            while (engine.inFlightCount() > 0) {
                answer = answer.plus(answerOf.apply(engine.poll()));
            }
        }
        return answer;
    }

    @ParameterizedTest(name = "{0} bytes a tuple, {1} rows a key, {2}")
    @CsvSource({"8, 1, WIDE", "16, 1, NARROW", "16, 1, ALL_NARROW", "16, 4, WIDE", "64, 16, WIDE"})
    void shouldExpectOfOneDimensionWhatTheReferenceGives(
            int tupleBytes, int copies, RingWorkload.Values values) {
        List<ColumnType> payloads = List.of(ColumnType.INT32, ColumnType.INT64);
        RingWorkload workload = new RingWorkload(tupleBytes, payloads, 640, copies, values);
        RingWorkload.Facts facts = workload.facts(3, 100, SEED);
        try (JoinEngine engine = new ReferenceJoinEngine(workload.spec())) {
            workload.build(chunk -> engine.submitBuild(0, chunk));
            assertThat(join(engine, facts.chunks(), workload::answerOf))
                    .isEqualTo(facts.expected());
        }
        assertThat(facts.expected().count()).isEqualTo(300L * copies);
    }

    @ParameterizedTest(name = "Zipf {0}")
    @ValueSource(doubles = {0, 0.5, 1, 1.5})
    void shouldExpectOfSkewedPartitionsWhatTheReferenceGives(double zipf) {
        RingWorkload workload = new RingWorkload(16, List.of(ColumnType.INT64), 1000, 1);
        RingWorkload.Facts facts = workload.partitionedFacts(20, 100, 8, zipf, SEED);
        assertThat(facts.chunks()).allMatch(chunk -> chunk.partition() < 8);
        try (JoinEngine engine = new ReferenceJoinEngine(workload.spec())) {
            workload.build(chunk -> engine.submitBuild(0, chunk));
            assertThat(join(engine, facts.chunks(), workload::answerOf))
                    .isEqualTo(facts.expected());
        }
    }

    @Test
    void shouldFillOnePartitionWithTheMostPopularKey() {
        RingWorkload workload = new RingWorkload(16, List.of(ColumnType.INT64), 1 << 20, 1);
        RingWorkload.Facts facts = workload.partitionedFacts(400, 100, 64, 1.5, SEED);
        long largest =
                facts.chunks().stream()
                        .collect(Collectors.groupingBy(Chunk::partition, Collectors.counting()))
                        .values()
                        .stream()
                        .max(Long::compare)
                        .orElseThrow();
        // 1 / zeta(1.5) = 38 % of all facts have one key, and others share its partition
        assertThat(largest).isBetween(150L, 220L);
    }

    @ParameterizedTest(name = "{0} dimensions")
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldExpectOfAStarWhatTheReferenceGives(int dimensions) {
        StarWorkload workload = new StarWorkload(dimensions, 500);
        RingWorkload.Facts facts = workload.facts(3, 100, SEED);
        try (JoinEngine engine = new ReferenceJoinEngine(workload.spec())) {
            for (int d = 0; d < dimensions; d++) {
                int dimension = d;
                workload.build(d, chunk -> engine.submitBuild(dimension, chunk));
            }
            assertThat(join(engine, facts.chunks(), workload::answerOf))
                    .isEqualTo(facts.expected());
        }
    }

    @ParameterizedTest
    @EnumSource(BulkKey.class)
    void shouldExpectOfABulkJoinWhatTheReferenceGives(BulkKey key) throws Exception {
        BulkTuples tuples = BulkTuples.random(key, 512, 4096, 1.0);
        BulkQuery query = BulkQuery.ROWS;
        JoinAnswer[] answer = {JoinAnswer.NOTHING};
        try (BulkJoin join =
                new ReferenceBulkJoin(query.spec(key.input("build"), key.input("probe")))) {
            for (Chunk chunk : tuples.build()) {
                join.submit(JoinSide.LEFT, chunk);
            }
            for (Chunk chunk : tuples.probe()) {
                join.submit(JoinSide.RIGHT, chunk);
            }
            join.finish();
            join.drain(result -> answer[0] = answer[0].plus(query.answer(result)));
        }
        assertThat(answer[0]).isEqualTo(tuples.expected());
    }
}
