// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Numbers as facts, joined with twice as many numbers as there are keys: fact n has the results
 * {@code "n|k"} and {@code "n|k + KEYS"} where k is its key, n modulo KEYS. Facts that were read
 * and results that came are kept in this process, for jobs that do not fail.
 */
final class NumbersJoin {

    static final int FACTS = 20_000;
    static final int KEYS = 10_000;

    private static final Queue<Long> READ = new ConcurrentLinkedQueue<>();
    private static final Queue<String> RESULTS = new ConcurrentLinkedQueue<>();

    /** A number and its key. */
    public static class Numbered {
        public long key;
        public long number;

        public Numbered() {}
    }

    private NumbersJoin() {}

    static void reset() {
        READ.clear();
        RESULTS.clear();
    }

    /**
     * Defines the job, with a uid for each operator.
     *
     * @param factsPerPause that a subtask reads before it pauses
     * @param resultsPerMs that a subtask takes at most
     */
    static void define(StreamExecutionEnvironment env, int factsPerPause, int resultsPerMs) {
        define(env, factsPerPause, resultsPerMs, 2 * KEYS);
    }

    /**
     * The same with a larger dimension.
     *
     * @param dimensionRows of which no fact has the keys of those after the first {@code 2 * KEYS}
     */
    static void define(
            StreamExecutionEnvironment env,
            int factsPerPause,
            int resultsPerMs,
            int dimensionRows) {
        StarJoin.of(numbers(env, "facts", FACTS).map(new Paced(factsPerPause)).uid("pace"))
                .select("number")
                .dimension(
                        numbers(env, "dimension", dimensionRows),
                        d -> d.on("key", "key").select("number AS match").partitioned())
                .uid("join")
                .toRows()
                .map(row -> row.getField(0) + "|" + row.getField(1))
                .uid("text")
                .sinkTo(new Results(resultsPerMs))
                .uid("results");
    }

    /** Facts read so far, over all jobs. */
    static Collection<Long> read() {
        return READ;
    }

    /** Results so far, over all jobs. */
    static List<String> results() {
        return new ArrayList<>(RESULTS);
    }

    static List<String> expected(Collection<Long> facts) {
        List<String> expected = new ArrayList<>();
        for (long fact : facts) {
            expected.add(fact + "|" + fact % KEYS);
            expected.add(fact + "|" + (fact % KEYS + KEYS));
        }
        return expected;
    }

    private static DataStream<Numbered> numbers(
            StreamExecutionEnvironment env, String name, int count) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        name)
                .uid(name)
                .map(
                        n -> {
                            Numbered row = new Numbered();
                            row.key = n < 2 * KEYS ? n % KEYS : n;
                            row.number = n;
                            return row;
                        })
                .returns(Numbered.class)
                .uid(name + "-rows");
    }

    private static final class Paced extends RichMapFunction<Numbered, Numbered> {
        private static final long serialVersionUID = 1L;

        /** Facts last half a minute at one a pause, however slow the rest of the job is. */
        private static final int PAUSE_MS = 3;

        private final int perPause;
        private int rows;

        Paced(int perPause) {
            this.perPause = perPause;
        }

        @Override
        public Numbered map(Numbered row) throws InterruptedException {
            READ.add(row.number);
            if (++rows % perPause == 0) {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            }
            return row;
        }
    }

    /** Keeps what it takes, at a rate. */
    private static final class Results implements Sink<String> {
        private static final long serialVersionUID = 1L;

        private final int perMs;

        Results(int perMs) {
            this.perMs = perMs;
        }

        @Override
        public SinkWriter<String> createWriter(WriterInitContext context) {
            return new SinkWriter<>() {
                private int taken;

                @Override
                public void write(String result, Context context) throws InterruptedException {
                    RESULTS.add(result);
                    if (++taken % perMs == 0) {
                        TimeUnit.MILLISECONDS.sleep(1);
                    }
                }

                @Override
                public void flush(boolean endOfInput) {}

                @Override
                public void close() {}
            };
        }
    }
}
