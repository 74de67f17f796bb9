// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CheckedRowsTest {

    private static final int SUBTASKS = 3;
    private static final int INTERVAL = 4;
    private static final int MAX_RESULT_ROWS = 40_000;

    private static final ChunkSchema RESULTS =
            ChunkSchema.of(
                    Column.of("probe", ColumnType.INT64), Column.of("build", ColumnType.INT64));

    private final Tuples tuples =
            Tuples.generate(1000, 20L * Tuples.CHUNK_ROWS + 77, KeyDomain.DENSE, 9);

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldAddUpWhatTheExpectedAnswerHolds(long seed) {
        assertThat(sumOfAll(new Random(seed), false)).isEqualTo(expected());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldNoticeResultsInAnotherOrder(long seed) {
        JoinAnswer shuffled = sumOfAll(new Random(seed), true);
        assertThat(shuffled.count()).isEqualTo(expected().count());
        assertThat(shuffled.checksum()).isNotEqualTo(expected().checksum());
    }

    private JoinAnswer expected() {
        return tuples.expected(tuples.probe().size(), chunk -> chunk / SUBTASKS % INTERVAL == 0);
    }

    /** Joins the facts of each subtask and cuts the results at random. */
    private JoinAnswer sumOfAll(Random random, boolean shuffles) {
        Map<Long, Long> build = new HashMap<>();
        for (Chunk chunk : tuples.build()) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                build.put(
                        chunk.getLong(TupleSchemas.KEY, row),
                        chunk.getLong(TupleSchemas.PAYLOAD, row));
            }
        }
        ChunkTally tally = new ChunkTally();
        JoinAnswer answer = JoinAnswer.NOTHING;
        for (int subtask = 0; subtask < SUBTASKS; subtask++) {
            List<Chunk> facts = Tuples.share(tuples.probe(), subtask, SUBTASKS);
            CheckedRows checked = new CheckedRows(facts, INTERVAL);
            for (Chunk result : results(facts, build, random, shuffles)) {
                int rows = tally.rows(result);
                answer = answer.plus(new JoinAnswer(rows, checked.sum(tally, result)));
            }
        }
        return answer;
    }

    private static List<Chunk> results(
            List<Chunk> facts, Map<Long, Long> build, Random random, boolean shuffles) {
        List<long[]> rows = new ArrayList<>();
        for (Chunk chunk : facts) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                long match = build.get(chunk.getLong(TupleSchemas.KEY, row));
                rows.add(new long[] {chunk.getLong(TupleSchemas.PAYLOAD, row), match});
            }
        }
        if (shuffles) {
            Collections.shuffle(rows, random);
        }
        List<Chunk> results = new ArrayList<>();
        ChunkBuilder builder =
                new ChunkBuilder(RESULTS, MAX_RESULT_ROWS * TupleSchemas.TUPLE_BYTES + 4096);
        for (int row = 0; row < rows.size(); ) {
            int end = Math.min(rows.size(), row + 1 + random.nextInt(MAX_RESULT_ROWS));
            for (; row < end; row++) {
                builder.putLong(0, rows.get(row)[0]);
                builder.putLong(1, rows.get(row)[1]);
                builder.endRow();
            }
            Chunk plain =
                    builder.seal(
                            ChunkDescriptor.FACTS,
                            ChunkDescriptor.UNPARTITIONED,
                            0,
                            results.size());
            results.add(
                    random.nextBoolean()
                            ? plain
                            : ChunkDecoder.open(RESULTS, new ChunkEncoder().encode(plain)));
        }
        return results;
    }
}
