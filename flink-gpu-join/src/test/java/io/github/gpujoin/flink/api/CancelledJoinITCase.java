// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(180)
class CancelledJoinITCase {

    /** All rows have one key, so that the join takes minutes to emit the results. */
    private static final int ROWS = 60_000;

    /** Results by which all facts have been read: fewer facts than these need fit the channels. */
    private static final int RESULTS_BEFORE_CANCEL = 20_000_000;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(1)
                            .build());

    private static final CountDownLatch RUNNING = new CountDownLatch(1);

    private static final class CountResults implements MapFunction<Row, Row> {

        private static final long serialVersionUID = 1L;
        private int count;

        @Override
        public Row map(Row row) {
            if (++count == RESULTS_BEFORE_CANCEL) {
                RUNNING.countDown();
            }
            return row;
        }
    }

    @Test
    void shouldCancelAJobWhoseFactsHaveEnded() throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(1);
        env.getConfig().enableObjectReuse();
        StarJoin.of(rows(env, "v"))
                .select("v")
                .dimension(rows(env, "w"), d -> d.on("k", "k").select("w"))
                .toRows()
                .map(new CountResults())
                .returns(Types.GENERIC(Row.class))
                .sinkTo(new DiscardingSink<>());

        JobClient job = env.executeAsync();
        assertThat(RUNNING.await(100, TimeUnit.SECONDS)).isTrue();
        job.cancel().get(20, TimeUnit.SECONDS);

        long deadlineNs = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!job.getJobStatus().get().isGloballyTerminalState()
                && System.nanoTime() - deadlineNs < 0) {
            Thread.sleep(50);
        }
        assertThat(job.getJobStatus().get()).isEqualTo(JobStatus.CANCELED);
    }

    private static DataStream<Row> rows(StreamExecutionEnvironment env, String column) {
        List<Row> rows = IntStream.range(0, ROWS).mapToObj(i -> Row.of("key", i)).toList();
        return env.fromData(
                rows, Types.ROW_NAMED(new String[] {"k", column}, Types.STRING, Types.INT));
    }
}
