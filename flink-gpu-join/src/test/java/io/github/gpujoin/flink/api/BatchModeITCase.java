// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Batch mode that is set after the join is made. */
@Timeout(60)
class BatchModeITCase {

    @RegisterExtension static final MiniClusterExtension CLUSTER = new MiniClusterExtension();

    private enum Distributed {
        MEASURED,
        PARTITIONED,
        REPLICATED
    }

    @ParameterizedTest
    @CsvSource({"BATCH,MEASURED", "BATCH,PARTITIONED", "BATCH,REPLICATED", "AUTOMATIC,MEASURED"})
    void shouldRefuseBatchModeThatIsSetLate(RuntimeExecutionMode mode, Distributed distributed) {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(2);
        StarJoin<Row> join =
                StarJoin.of(numbers(env, 4_000, "facts"))
                        .dimension(
                                numbers(env, 2_000, "rows"),
                                d -> {
                                    d.on("key", "key").select("key AS match");
                                    switch (distributed) {
                                        case PARTITIONED -> d.partitioned();
                                        case REPLICATED -> d.replicated();
                                        case MEASURED -> {}
                                    }
                                });
        join.uid("join").toRows().sinkTo(new DiscardingSink<>());
        env.setRuntimeMode(mode);
        assertThatThrownBy(env::execute)
                .hasStackTraceContaining("Join was made for streaming mode")
                .hasStackTraceContaining("execution.runtime-mode=BATCH was set afterwards");
    }

    private static DataStream<Row> numbers(
            StreamExecutionEnvironment env, long count, String name) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        name)
                .map(n -> Row.of(n))
                .returns(Types.ROW_NAMED(new String[] {"key"}, Types.LONG));
    }
}
