// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.local;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinState;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.cpu.bulk.CpuRadixJoin;
import io.github.gpujoin.cpu.bulk.RadixJoinOptions;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The radix join of two bounded inputs on the CPU. The time is from the first chunk to the last
 * result, all polled and added up.
 */
public final class BulkJoinContender implements Contender {

    /** Name of the algorithm in reports. */
    public static final String CPU_RADIX = "cpu-radix";

    private static final long POLL_TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Tuples tuples;
    private final BulkQuery query;
    private final RadixJoinOptions options;
    private JoinAnswer expected = JoinAnswer.NOTHING;

    public BulkJoinContender(Tuples tuples, int threads, BulkQuery query) {
        this.tuples = tuples;
        this.query = query;
        this.options = RadixJoinOptions.ofThreads(threads);
    }

    @Override
    public String name() {
        return CPU_RADIX;
    }

    @Override
    public void prepare() {
        expected = query.expected(tuples);
    }

    @Override
    public Measurement run() throws Exception {
        long startNs = System.nanoTime();
        try (BulkJoin join = new CpuRadixJoin(query.spec(), options, Allocator.unlimited())) {
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
                answer = answer.plus(query.answer(join.poll(POLL_TIMEOUT_NS)));
            }
            long endNs = System.nanoTime();
            return new Measurement(
                    Tuples.rowCount(tuples.probe()),
                    endNs - startNs,
                    answer,
                    expected,
                    Map.of(
                            "partition_us", (joiningNs - startNs) / 1000,
                            "join_us", (endNs - joiningNs) / 1000,
                            "memory_bytes", join.stats().memoryBytes()));
        }
    }
}
