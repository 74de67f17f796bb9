// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * The columnar star join of two sides whose rows all have one key, so that each fact matches each
 * build row, on an embedded cluster. Results are counted and summed, and dropped. Not thread-safe.
 */
public final class HeavyKeyJoin implements AutoCloseable {

    private static final long KEY = 7;
    private static final long CANCEL_TIMEOUT_S = 60;
    private static final String ROWS = "rows";
    private static final String PAYLOADS = "payloads";

    private final JobClient client;

    private HeavyKeyJoin(JobClient client) {
        this.client = client;
    }

    /**
     * @param rows of either side; payloads count from 0
     * @param expectedBytes of the build side, by which it is replicated or partitioned
     */
    public static HeavyKeyJoin start(int rows, int threads, long expectedBytes) throws Exception {
        StreamExecutionEnvironment env = FlinkContender.environment(threads, new Configuration());
        StarJoin.ofChunks(side(env, TupleSchemas.PROBE, ChunkDescriptor.FACTS, rows))
                .select(TupleSchemas.PROBE_PAYLOAD)
                .dimensionChunks(
                        side(env, TupleSchemas.BUILD, 0, rows),
                        d ->
                                d.on(TupleSchemas.PROBE_KEY, TupleSchemas.BUILD_KEY)
                                        .select(TupleSchemas.BUILD_PAYLOAD)
                                        .expectedBytes(expectedBytes))
                .toChunks()
                .filter(new CountAndDrop())
                .sinkTo(new DiscardingSink<>());
        return new HeavyKeyJoin(env.executeAsync("heavy-key"));
    }

    private static DataStream<Chunk> side(
            StreamExecutionEnvironment env, ChunkSchema schema, int dimension, int rows) {
        List<Chunk> chunks = new ArrayList<>();
        ChunkBuilder builder = new ChunkBuilder(schema, rows * TupleSchemas.TUPLE_BYTES);
        for (int row = 0; row < rows; row++) {
            builder.putLong(TupleSchemas.KEY, KEY);
            builder.putLong(TupleSchemas.PAYLOAD, row);
            builder.endRow();
            if (builder.isFull() || row == rows - 1) {
                chunks.add(
                        builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 0, chunks.size()));
            }
        }
        return env.fromData(chunks, ChunkTypeInfo.of(schema));
    }

    /** Whether the job has ended, well or not. */
    public boolean isDone() {
        return client.getJobExecutionResult().isDone();
    }

    /**
     * What the sinks were given, once the job has ended.
     *
     * @throws Exception what the job failed with
     */
    public JoinAnswer answer() throws Exception {
        JobExecutionResult result = client.getJobExecutionResult().get();
        return new JoinAnswer(
                result.getAccumulatorResult(ROWS), result.getAccumulatorResult(PAYLOADS));
    }

    @Override
    public void close() throws Exception {
        if (!isDone()) {
            client.cancel().get(CANCEL_TIMEOUT_S, TimeUnit.SECONDS);
        }
    }

    /** Counts rows, sums their payloads up and lets none through. */
    private static final class CountAndDrop extends RichFilterFunction<Chunk> {

        private static final long serialVersionUID = 1L;

        private final Tally<Chunk> tally = new ChunkTally();
        private final LongCounter rows = new LongCounter();
        private final LongCounter payloads = new LongCounter();

        @Override
        public void open(OpenContext context) {
            getRuntimeContext().addAccumulator(ROWS, rows);
            getRuntimeContext().addAccumulator(PAYLOADS, payloads);
        }

        @Override
        public boolean filter(Chunk results) {
            rows.add(tally.rows(results));
            payloads.add(tally.payloads(results, 0, tally.rows(results)));
            return false;
        }
    }
}
