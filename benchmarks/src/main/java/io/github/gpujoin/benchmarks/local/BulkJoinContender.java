// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.local;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkJoinState;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.encoding.PlainColumn;
import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.cpu.bulk.CpuRadixJoin;
import io.github.gpujoin.cpu.bulk.RadixJoinOptions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The radix join of two bounded inputs on the CPU. The time is from the first chunk to the last
 * result, all polled and added up.
 */
public final class BulkJoinContender implements Contender {

    /** Name of the algorithm in reports. */
    public static final String CPU_RADIX = "cpu-radix";

    private static final long POLL_TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(10);

    /** What the join returns. */
    public enum Output {
        /** Chunks of both payloads, which this contender adds up. */
        ROWS,
        /** The sums themselves. */
        SUMS
    }

    private final Tuples tuples;
    private final Output output;
    private final RadixJoinOptions options;

    public BulkJoinContender(Tuples tuples, int threads, Output output) {
        this.tuples = tuples;
        this.output = output;
        this.options = RadixJoinOptions.ofThreads(threads);
    }

    @Override
    public String name() {
        return CPU_RADIX + (output == Output.ROWS ? "-rows" : "-sums");
    }

    private BulkJoinSpec spec() {
        return new BulkJoinSpec(
                new BulkInput("build", TupleSchemas.BUILD, List.of(TupleSchemas.KEY)),
                new BulkInput("probe", TupleSchemas.PROBE, List.of(TupleSchemas.KEY)),
                BulkJoinKind.INNER,
                false,
                output == Output.ROWS
                        ? new BulkOutput.Rows(
                                List.of(TupleSchemas.PAYLOAD), List.of(TupleSchemas.PAYLOAD))
                        : new BulkOutput.Groups(sums()));
    }

    private static Aggregation sums() {
        return new Aggregation(
                List.of(),
                List.of(
                        Aggregate.count(),
                        Aggregate.sum(payload(JoinSide.LEFT)),
                        Aggregate.sum(payload(JoinSide.RIGHT))));
    }

    private static JoinColumn payload(JoinSide side) {
        return new JoinColumn(side.ordinal(), TupleSchemas.PAYLOAD);
    }

    @Override
    public Measurement run() throws Exception {
        long startNs = System.nanoTime();
        try (BulkJoin join = new CpuRadixJoin(spec(), options, Allocator.unlimited())) {
            for (Chunk chunk : tuples.build()) {
                join.submit(JoinSide.LEFT, chunk);
            }
            for (Chunk chunk : tuples.probe()) {
                join.submit(JoinSide.RIGHT, chunk);
            }
            join.finish();
            long joiningNs = System.nanoTime();
            JoinAnswer answer = JoinAnswer.NOTHING;
            while (join.state() == BulkJoinState.JOINING) {
                answer = answer.plus(answer(join.poll(POLL_TIMEOUT_NS)));
            }
            long endNs = System.nanoTime();
            return new Measurement(
                    Tuples.rowCount(tuples.probe()),
                    endNs - startNs,
                    answer,
                    tuples.expected(tuples.probe().size()),
                    Map.of(
                            "partition_us", (joiningNs - startNs) / 1000,
                            "join_us", (endNs - joiningNs) / 1000,
                            "memory_bytes", join.stats().memoryBytes()));
        }
    }

    private static JoinAnswer answer(@Nullable BulkResult result) {
        if (result instanceof BulkResult.Rows rows) {
            Chunk chunk = rows.chunk();
            return new JoinAnswer(chunk.rowCount(), sum(chunk, 0) + sum(chunk, 1));
        }
        if (result instanceof BulkResult.Groups groups) {
            GroupRows row = groups.groups();
            return row.rowCount() == 0
                    ? JoinAnswer.NOTHING
                    : new JoinAnswer(
                            row.aggregate(0, 0), row.aggregate(0, 1) + row.aggregate(0, 2));
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
}
