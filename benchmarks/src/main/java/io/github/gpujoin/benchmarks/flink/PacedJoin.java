// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.io.Serializable;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.jspecify.annotations.Nullable;

/**
 * Measures the latency of the columnar star join on an embedded cluster, at a steady rate of facts.
 *
 * <p>Only the rate determines when a fact is due, not the progress of earlier facts. The facts of a
 * chunk carry the due time of its first fact as their payload; latency is the time from then until
 * the sink receives the result. It includes the time that a fact waits because others were late, so
 * there is no coordinated omission. Without a rate, facts are due when they are sent, and latency
 * excludes that wait.
 *
 * <p>Flink serializes sources and sinks, so they find their run by its number, and the cluster is
 * in this process. Use an object for one run.
 */
public final class PacedJoin {

    private static final Map<Integer, PacedJoin> OPEN = new ConcurrentHashMap<>();
    private static final AtomicInteger NEXT_ID = new AtomicInteger();
    private static final long MAX_LATENCY_NS = TimeUnit.MINUTES.toNanos(5);
    private static final long START_TIMEOUT_S = 120;

    /** Payload of the facts that are sent before the clock starts. */
    private static final long PRIME = -1;

    /** The first chunks, one in so many, are warm-up. */
    private static final int WARM_UP_SHARE = 5;

    private final int id = NEXT_ID.incrementAndGet();
    private final Facts facts;
    private final AtomicLong primeRows = new AtomicLong();

    /** Completes with the start of the clock, when the results of all primes have arrived. */
    private final CompletableFuture<Long> startNs = new CompletableFuture<>();

    private final LongAdder resultRows = new LongAdder();
    private final LongAdder wrongRows = new LongAdder();
    private final Recorder latencyNs = new Recorder(MAX_LATENCY_NS, 3);
    private volatile long lastNs;

    /**
     * Size and rate of the input.
     *
     * @param buildRows rows of the dimension, with keys 0 to n - 1
     * @param chunkRows facts of a chunk, which is sent when its last one is due
     * @param chunks timed chunks of each thread, which sends one prime before
     * @param threads parallelism
     * @param rowsPerSecond of all threads together; 0 for the maximum
     */
    public record Facts(int buildRows, int chunkRows, long chunks, int threads, long rowsPerSecond)
            implements Serializable {

        private long rows() {
            return chunks * chunkRows * threads;
        }

        /** When the first fact of a thread's chunk is due, after the start. */
        private long dueNs(long chunk) {
            return rowsPerSecond == 0
                    ? 0
                    : (long) (1e9 * chunk * chunkRows * threads / rowsPerSecond);
        }
    }

    /**
     * Measured rate and latency.
     *
     * @param rowsPerSecond all timed facts, divided by the time from the results of the primes to
     *     the last result
     * @param latencyNs of each fact after the warm-up, a fifth of the facts, or of all facts if
     *     they have no rate; at most 5 minutes. All facts of a chunk count as due with its first.
     */
    public record Figures(double rowsPerSecond, Histogram latencyNs) {}

    public PacedJoin(Facts facts) {
        this.facts = facts;
    }

    /**
     * Runs the job to its end. Call it once.
     *
     * @throws IllegalStateException if a result is missing, duplicated or wrong
     */
    public Figures run() throws Exception {
        OPEN.put(id, this);
        try {
            StreamExecutionEnvironment env =
                    FlinkContender.environment(facts.threads(), new Configuration());
            define(env);
            env.execute("latency");
        } finally {
            OPEN.remove(id);
        }
        if (resultRows.sum() != facts.rows() || wrongRows.sum() != 0) {
            throw new IllegalStateException(
                    "Results are missing, doubled or wrong: facts=%d, resultRows=%d, wrongRows=%d"
                            .formatted(facts.rows(), resultRows.sum(), wrongRows.sum()));
        }
        double seconds = (lastNs - startNs.join()) / 1e9;
        return new Figures(facts.rows() / seconds, latencyNs.getIntervalHistogram());
    }

    private void define(StreamExecutionEnvironment env) {
        long buildChunks = (facts.buildRows() - 1L) / facts.chunkRows() + 1;
        // The first chunk of each thread is a prime.
        long factChunks = (facts.chunks() + 1) * facts.threads();
        StarJoin.ofChunks(
                        env.fromSequence(0, factChunks - 1)
                                .map(new PacedFacts(id, facts))
                                .returns(ChunkTypeInfo.of(TupleSchemas.PROBE)))
                .select(TupleSchemas.PROBE_KEY, TupleSchemas.PROBE_PAYLOAD)
                .dimensionChunks(
                        env.fromSequence(0, buildChunks - 1)
                                .map(new BuildChunks(facts))
                                .returns(ChunkTypeInfo.of(TupleSchemas.BUILD)),
                        d ->
                                d.on(TupleSchemas.PROBE_KEY, TupleSchemas.BUILD_KEY)
                                        .select(TupleSchemas.BUILD_PAYLOAD)
                                        // Paced facts wait in their task for results, so no chunk
                                        // may wait there for more.
                                        .replicated())
                .toChunks()
                .map(new Taken(id))
                .sinkTo(new DiscardingSink<>());
    }

    private void primesAnswered(long rows) {
        if (primeRows.addAndGet(rows) == (long) facts.chunkRows() * facts.threads()) {
            startNs.complete(System.nanoTime());
        }
    }

    /** Counts results of facts that were due at the same time. */
    private void record(long dueNs, long rows, long nowNs) {
        resultRows.add(rows);
        lastNs = nowNs;
        if (dueNs - startNs.join() >= facts.dueNs(facts.chunks() / WARM_UP_SHARE)) {
            long waitedNs = Math.max(0, Math.min(MAX_LATENCY_NS, nowNs - dueNs));
            latencyNs.recordValueWithCount(waitedNs, rows);
        }
    }

    private static ChunkBuilder builder(ChunkSchema schema, Facts facts) {
        return new ChunkBuilder(schema, facts.chunkRows() * TupleSchemas.TUPLE_BYTES);
    }

    private static void append(ChunkBuilder builder, long key, long payload) {
        builder.putLong(TupleSchemas.KEY, key);
        builder.putLong(TupleSchemas.PAYLOAD, payload);
        builder.endRow();
    }

    /** The dimension, chunk by chunk. */
    private static final class BuildChunks extends RichMapFunction<Long, Chunk> {

        private static final long serialVersionUID = 1L;

        private final Facts facts;
        private transient @Nullable ChunkBuilder builder;

        BuildChunks(Facts facts) {
            this.facts = facts;
        }

        @Override
        public Chunk map(Long number) {
            if (builder == null) {
                builder = builder(TupleSchemas.BUILD, facts);
            }
            long from = number * facts.chunkRows();
            long end = Math.min(from + facts.chunkRows(), facts.buildRows());
            for (long key = from; key < end; key++) {
                append(builder, key, KeyDomain.mix(key));
            }
            return builder.seal(0, ChunkDescriptor.UNPARTITIONED, 0, number);
        }
    }

    /** Makes facts when they are due. */
    private static final class PacedFacts extends RichMapFunction<Long, Chunk> {

        private static final long serialVersionUID = 1L;

        private final int run;
        private final Facts facts;
        private transient @Nullable ChunkBuilder builder;
        private transient SplittableRandom random;
        private transient PacedJoin join;
        private transient long chunk;
        private transient long startNs;

        PacedFacts(int run, Facts facts) {
            this.run = run;
            this.facts = facts;
        }

        @Override
        public void open(OpenContext context) {
            builder = builder(TupleSchemas.PROBE, facts);
            random =
                    new SplittableRandom(getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
            join = OPEN.get(run);
        }

        @Override
        public Chunk map(Long number) {
            long dueNs = PRIME;
            if (chunk == 1) {
                startNs = join.startNs.orTimeout(START_TIMEOUT_S, TimeUnit.SECONDS).join();
            }
            if (chunk > 0) {
                dueNs = awaitDue(chunk - 1);
            }
            chunk++;
            for (int row = 0; row < facts.chunkRows(); row++) {
                append(builder, random.nextInt(facts.buildRows()), dueNs);
            }
            return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, number);
        }

        /** Waits until the last fact of the chunk is due; returns the due time of the first. */
        private long awaitDue(long number) {
            if (facts.rowsPerSecond() == 0) {
                return System.nanoTime();
            }
            long lastDueNs = startNs + facts.dueNs(number + 1);
            for (long leftNs = lastDueNs - System.nanoTime(); leftNs > 0; ) {
                LockSupport.parkNanos(leftNs);
                leftNs = lastDueNs - System.nanoTime();
            }
            return startNs + facts.dueNs(number);
        }
    }

    /** Checks and counts results. */
    private static final class Taken extends RichMapFunction<Chunk, Integer> {

        private static final long serialVersionUID = 1L;

        private final int run;
        private transient PacedJoin join;

        Taken(int run) {
            this.run = run;
        }

        @Override
        public void open(OpenContext context) {
            join = OPEN.get(run);
        }

        @Override
        public Integer map(Chunk results) {
            long nowNs = System.nanoTime();
            int rows = results.rowCount();
            int wrong = 0;
            int first = 0;
            for (int row = 0; row < rows; row++) {
                // Columns of the facts, then the dimension's.
                wrong += results.getLong(2, row) == KeyDomain.mix(results.getLong(0, row)) ? 0 : 1;
                if (row + 1 == rows || results.getLong(1, row + 1) != results.getLong(1, first)) {
                    count(results.getLong(1, first), row + 1L - first, nowNs);
                    first = row + 1;
                }
            }
            join.wrongRows.add(wrong);
            return rows;
        }

        private void count(long dueNs, long rows, long nowNs) {
            if (dueNs == PRIME) {
                join.primesAnswered(rows);
            } else {
                join.record(dueNs, rows, nowNs);
            }
        }
    }
}
