// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.testing;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;

/**
 * A job that emits the ids of the rows of a source, their first column. It fails once, after some
 * chunks, and restarts. One runs at a time in a process.
 */
public final class RestartingJob {

    /** Flink's message if a job fails without the restart that its strategy allows. */
    public static final String NOT_RECOVERABLE = "The failure is not recoverable";

    private static final AtomicInteger CHUNKS_LEFT = new AtomicInteger();

    private RestartingJob() {}

    /** Lets the next job fail at a chunk; {@link Integer#MAX_VALUE} for never. */
    public static void failAt(int chunk) {
        CHUNKS_LEFT.set(chunk);
    }

    /** Whether the last job failed. */
    public static boolean hasFailed() {
        return CHUNKS_LEFT.get() < 0;
    }

    /** Returns an environment whose jobs restart once. */
    public static StreamExecutionEnvironment environment() {
        Configuration settings = new Configuration();
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        settings.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(1));
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(settings);
        env.setParallelism(2);
        return env;
    }

    /** Runs the job; results are collected exactly once if it takes checkpoints. */
    public static CloseableIterator<Long> ids(StreamExecutionEnvironment env, ColumnarSource source)
            throws Exception {
        return source.toStream(env, "parts")
                .flatMap(new Ids())
                .returns(Types.LONG)
                .executeAndCollect();
    }

    private static final class Ids implements FlatMapFunction<Chunk, Long> {

        private static final long serialVersionUID = 1L;

        @Override
        public void flatMap(Chunk chunk, Collector<Long> out) {
            if (CHUNKS_LEFT.decrementAndGet() == 0) {
                throw new IllegalStateException("as the test wants it");
            }
            for (int row = 0; row < chunk.rowCount(); row++) {
                out.collect(chunk.getLong(0, row));
            }
        }
    }
}
