// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A job with a versioned dimension and one that has ended before the checkpoint from which the job
 * starts over: Flink then gives the largest watermark for the ended one.
 */
@Timeout(120)
@ExtendWith(RegionLeakExtension.class)
class VersionedRestartITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    /** After the end of an input, one covers its end, and the next ones its tasks' end. */
    private static final int CHECKPOINTS = 4;

    private static final Queue<String> RESULTS = new ConcurrentLinkedQueue<>();
    private static volatile boolean failed;

    /** Both streams are idle, or all rows are taken for late. */
    private static volatile CountDownLatch settled;

    /** The last fact is joined, or late. */
    private static volatile CountDownLatch passed;

    @BeforeEach
    void reset() {
        RESULTS.clear();
        failed = false;
        settled = new CountDownLatch(1);
        passed = new CountDownLatch(1);
    }

    @ParameterizedTest(name = "transport={0}, unaligned={1}")
    @CsvSource({"flink,false", "flink,true", "shm,true"})
    void shouldJoinFactsAfterBothStreamsWereIdleBesideADimensionThatHasEnded(
            String transport, boolean unaligned) throws Exception {
        StreamExecutionEnvironment env = environment(transport, unaligned);
        StarJoin.of(stream(env, new Facts(), "region", "id", "number"))
                .select("number")
                .dimension(
                        env.fromData(
                                Types.ROW_NAMED(
                                        new String[] {"id", "name"}, Types.LONG, Types.STRING),
                                Row.of(0L, "north"),
                                Row.of(1L, "south")),
                        d -> d.named("regions").on("region", "id").select("name").replicated())
                .dimension(
                        stream(env, new Versions(), "id", "price", "note"),
                        d -> d.named("prices").on("id", "id").select("price").versioned())
                .uid("join")
                .toRows()
                .map(row -> row.getField(0) + "|" + row.getField(1) + "|" + row.getField(2))
                .setParallelism(1)
                .transform("record", Types.STRING, new Recorder())
                .setParallelism(1);
        env.execute();
        assertThat(failed).isTrue();
        assertThat(RESULTS).containsExactly("1|north|100", "2|south|200");
    }

    private static StreamExecutionEnvironment environment(String transport, boolean unaligned) {
        Configuration config = new Configuration();
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        config.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
        config.set(GpuJoinOptions.TRANSPORT, transport);
        config.set(GpuJoinOptions.RING_OPEN_TIMEOUT, Duration.ofMinutes(1));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(2);
        env.enableCheckpointing(50);
        env.getCheckpointConfig().enableUnalignedCheckpoints(unaligned);
        return env;
    }

    private static DataStream<Row> stream(
            StreamExecutionEnvironment env, SourceFunction<Row> source, String... columns) {
        return env.addSource(
                source, columns[2], Types.ROW_NAMED(columns, Types.LONG, Types.LONG, Types.LONG));
    }

    /** Rows of one attempt that ends with a failure, and of one that goes on from there. */
    private abstract static class Attempts implements SourceFunction<Row> {

        private static final long serialVersionUID = 1L;

        private volatile boolean cancelled;

        @Override
        public void run(SourceContext<Row> context) throws Exception {
            try {
                if (failed) {
                    second(context);
                } else {
                    first(context);
                    new CountDownLatch(1).await();
                }
            } catch (InterruptedException e) {
                if (!cancelled) {
                    throw e;
                }
            }
        }

        abstract void first(SourceContext<Row> context);

        abstract void second(SourceContext<Row> context) throws InterruptedException;

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    private static final class Facts extends Attempts {
        private static final long serialVersionUID = 1L;

        @Override
        void first(SourceContext<Row> context) {
            context.collectWithTimestamp(Row.of(0L, 7L, 1L), 10);
            context.emitWatermark(new Watermark(20));
        }

        @Override
        void second(SourceContext<Row> context) throws InterruptedException {
            context.emitWatermark(new Watermark(50));
            context.markAsTemporarilyIdle();
            settled.await();
            context.collectWithTimestamp(Row.of(1L, 7L, 2L), 160);
            context.emitWatermark(new Watermark(200));
            passed.await();
        }
    }

    private static final class Versions extends Attempts {
        private static final long serialVersionUID = 1L;

        @Override
        void first(SourceContext<Row> context) {
            context.collectWithTimestamp(Row.of(7L, 100L, 0L), 5);
            context.emitWatermark(new Watermark(20));
        }

        @Override
        void second(SourceContext<Row> context) throws InterruptedException {
            context.collectWithTimestamp(Row.of(7L, 200L, 0L), 90);
            context.emitWatermark(new Watermark(100));
            context.markAsTemporarilyIdle();
            passed.await();
        }
    }

    /** Fails once, when checkpoints hold that the first result is there. */
    private static final class Recorder extends AbstractStreamOperator<String>
            implements OneInputStreamOperator<String, String> {

        private static final long serialVersionUID = 1L;

        private int checkpoints;

        @Override
        public void processElement(StreamRecord<String> element) {
            RESULTS.add(element.getValue());
        }

        @Override
        public void processWatermark(Watermark mark) throws Exception {
            if (mark.getTimestamp() == Long.MAX_VALUE) {
                settled.countDown();
            }
            if (mark.getTimestamp() >= 200) {
                passed.countDown();
            }
            super.processWatermark(mark);
        }

        @Override
        public void processWatermarkStatus(WatermarkStatus status) throws Exception {
            if (failed && status.isIdle()) {
                settled.countDown();
            }
            super.processWatermarkStatus(status);
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            if (!failed && !RESULTS.isEmpty() && ++checkpoints == CHECKPOINTS) {
                failed = true;
                throw new IllegalStateException("a failure to recover from");
            }
        }
    }
}
