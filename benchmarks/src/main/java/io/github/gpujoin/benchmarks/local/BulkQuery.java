// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.local;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.encoding.PlainColumn;
import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a join of two bounded inputs is asked for. The answer counts rows and adds up payloads. */
public enum BulkQuery {
    /** All pairs, as chunks of both payloads, which the contender adds up. */
    ROWS(
            BulkJoinKind.INNER,
            new BulkOutput.Rows(List.of(TupleSchemas.PAYLOAD), List.of(TupleSchemas.PAYLOAD)),
            "SELECT count(*), sum(buildPayload + probePayload)"
                    + " FROM probe JOIN build ON probeKey = buildKey"),
    /** The sums of both payloads of all pairs. */
    SUMS(
            BulkJoinKind.INNER,
            sums(payload(JoinSide.LEFT), payload(JoinSide.RIGHT)),
            "SELECT count(*), sum(buildPayload + probePayload)"
                    + " FROM probe JOIN build ON probeKey = buildKey"),
    /** The sum of the payloads of build rows that have a probe row. */
    SEMI(
            BulkJoinKind.SEMI,
            sums(payload(JoinSide.LEFT)),
            "SELECT count(*), sum(buildPayload) FROM build"
                    + " WHERE EXISTS (SELECT 1 FROM probe WHERE probeKey = buildKey)");

    private final BulkJoinKind kind;
    private final BulkOutput output;
    private final String sql;

    BulkQuery(BulkJoinKind kind, BulkOutput output, String sql) {
        this.kind = kind;
        this.output = output;
        this.sql = sql;
    }

    private static BulkOutput sums(JoinColumn... columns) {
        return new BulkOutput.Groups(
                new Aggregation(
                        List.of(),
                        Stream.concat(
                                        Stream.of(Aggregate.count()),
                                        Arrays.stream(columns).map(Aggregate::sum))
                                .toList()));
    }

    private static JoinColumn payload(JoinSide side) {
        return new JoinColumn(side.ordinal(), TupleSchemas.PAYLOAD);
    }

    /** Returns the query on the tables {@code build} and {@code probe}. */
    String sql() {
        return sql;
    }

    /** Returns the join of build tuples on the left and probe tuples on the right. */
    public BulkJoinSpec spec() {
        return spec(
                new BulkInput("build", TupleSchemas.BUILD, List.of(TupleSchemas.KEY)),
                new BulkInput("probe", TupleSchemas.PROBE, List.of(TupleSchemas.KEY)));
    }

    /** Returns the join of inputs with payloads as those of {@link TupleSchemas}. */
    public BulkJoinSpec spec(BulkInput build, BulkInput probe) {
        return new BulkJoinSpec(build, probe, kind, false, output);
    }

    /** Returns the number of aggregates of each group: a count, then sums of payloads. */
    private int aggregateCount() {
        return ((BulkOutput.Groups) output).aggregation().aggregates().size();
    }

    /** Computes the answer without a join. */
    JoinAnswer expected(Tuples tuples) {
        if (kind != BulkJoinKind.SEMI) {
            return tuples.expected(tuples.probe().size());
        }
        long[] probeKeys =
                tuples.probe().stream().flatMapToLong(BulkQuery::keys).sorted().toArray();
        JoinAnswer answer = JoinAnswer.NOTHING;
        for (Chunk chunk : tuples.build()) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                long key = chunk.getLong(TupleSchemas.KEY, row);
                if (Arrays.binarySearch(probeKeys, key) >= 0) {
                    long payload = chunk.getLong(TupleSchemas.PAYLOAD, row);
                    answer = answer.plus(new JoinAnswer(1, payload));
                }
            }
        }
        return answer;
    }

    /** Returns what a result adds to the answer; nothing if there is none. */
    public JoinAnswer answer(@Nullable BulkResult result) {
        if (result instanceof BulkResult.Rows rows) {
            Chunk chunk = rows.chunk();
            return new JoinAnswer(chunk.rowCount(), sum(chunk, 0) + sum(chunk, 1));
        }
        if (result instanceof BulkResult.Groups groups && groups.groups().rowCount() > 0) {
            GroupRows row = groups.groups();
            long sum = 0;
            for (int aggregate = 1; aggregate < aggregateCount(); aggregate++) {
                sum += row.aggregate(0, aggregate);
            }
            return new JoinAnswer(row.aggregate(0, 0), sum);
        }
        return JoinAnswer.NOTHING;
    }

    private static long sum(Chunk chunk, int column) {
        PlainColumn values = new PlainColumn(column);
        values.bind(chunk);
        byte[] array = Objects.requireNonNull(values.base());
        long sum = 0;
        for (int row = 0; row < chunk.rowCount(); row++) {
            sum += Memory.getLong(array, values.start() + 8L * row);
        }
        return sum;
    }

    private static LongStream keys(Chunk chunk) {
        return LongStream.range(0, chunk.rowCount())
                .map(row -> chunk.getLong(TupleSchemas.KEY, (int) row));
    }
}
