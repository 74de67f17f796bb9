// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.SalesData.environment;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.api.SalesData.Customer;
import io.github.gpujoin.flink.api.SalesData.Sale;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointOptions.AlignmentType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.CheckpointConfig;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;

/** What a star join requires of its job: bounded inputs, checkpoints, runtime mode and uids. */
class StarJoinJobTest {

    @Test
    void shouldRefuseDimensionThatIsNeverComplete() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        DataStream<Customer> endless =
                data.customerStream(env)
                        .union(
                                endless(env)
                                        .map(
                                                n -> new Customer(),
                                                TypeInformation.of(Customer.class)));
        Function<Consumer<Dimension<Customer>>, StarJoin<Sale>> dimension =
                more ->
                        StarJoin.of(data.saleStream(env))
                                .select("note")
                                .dimension(
                                        endless,
                                        d ->
                                                more.accept(
                                                        d.named("customers").on("customer", "id")));
        assertThatThrownBy(() -> dimension.apply(d -> {}).toRows())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Dimension 'customers' is never complete: its source 'endless' is unbounded,"
                                + " so no fact would be joined. Use a bounded source,"
                                + " .completeAtWatermark(t), .changelog() or .versioned().");
        assertThat(dimension.apply(d -> d.completeAtWatermark(7)).uid("a").toRows()).isNotNull();
        assertThat(dimension.apply(d -> d.changelog(row -> RowKind.INSERT)).uid("b").toRows())
                .isNotNull();
        assertThat(dimension.apply(Dimension::versioned).uid("c").toRows()).isNotNull();
    }

    @Test
    void shouldAcceptFactsThatNeverEnd() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        assertThat(
                        StarJoin.of(
                                        endless(env)
                                                .map(
                                                        n -> Row.of(n),
                                                        Types.ROW_NAMED(
                                                                new String[] {"customer"},
                                                                Types.LONG)))
                                .dimension(
                                        data.customerStream(env),
                                        d -> d.on("customer", "id").select("nation"))
                                .toRows())
                .isNotNull();
    }

    private static DataStream<Long> endless(StreamExecutionEnvironment env) {
        NumberSequenceSource source =
                new NumberSequenceSource(0, Long.MAX_VALUE) {
                    @Override
                    public Boundedness getBoundedness() {
                        return Boundedness.CONTINUOUS_UNBOUNDED;
                    }
                };
        return env.fromSource(source, WatermarkStrategy.noWatermarks(), "endless");
    }

    @Test
    void shouldRefuseCheckpointsAtLeastOnce() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        env.enableCheckpointing(100, CheckpointingMode.AT_LEAST_ONCE);
        assertThatThrownBy(
                        () ->
                                StarJoin.of(data.saleStream(env))
                                        .select("note")
                                        .dimension(
                                                data.customerStream(env),
                                                d -> d.on("customer", "id"))
                                        .toRows())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("AT_LEAST_ONCE")
                .hasMessageContaining("Set execution.checkpointing.mode: EXACTLY_ONCE");
    }

    /** Else the trigger overtakes splits in the mailbox of a source, and a restart loses them. */
    @Test
    void shouldAlignUnalignedCheckpointsForAMomentSoThatNoSplitIsOvertaken() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        env.enableCheckpointing(100);
        env.getCheckpointConfig().enableUnalignedCheckpoints();
        StarJoin.of(data.saleStream(env))
                .select("note")
                .dimension(data.customerStream(env), d -> d.on("customer", "id"))
                .toRows();
        CheckpointConfig config = env.getCheckpointConfig();
        assertThat(config.getAlignedCheckpointTimeout()).isEqualTo(Duration.ofMillis(1));
        CheckpointOptions options =
                CheckpointOptions.forConfig(
                        CheckpointType.CHECKPOINT,
                        CheckpointStorageLocationReference.getDefault(),
                        true,
                        config.isUnalignedCheckpointsEnabled(),
                        config.getAlignedCheckpointTimeout().toMillis());
        assertThat(options.getAlignment()).isNotEqualTo(AlignmentType.UNALIGNED);
    }

    @Test
    void shouldKeepTheAlignmentTimeoutOfTheJob() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        env.enableCheckpointing(100);
        env.getCheckpointConfig().enableUnalignedCheckpoints();
        env.getCheckpointConfig().setAlignedCheckpointTimeout(Duration.ofSeconds(3));
        StarJoin.of(data.saleStream(env))
                .select("note")
                .dimension(data.customerStream(env), d -> d.on("customer", "id"))
                .toRows();
        assertThat(env.getCheckpointConfig().getAlignedCheckpointTimeout())
                .isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void shouldAcceptModeOfCheckpointsThatAreOff() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        env.getCheckpointConfig().setCheckpointingConsistencyMode(CheckpointingMode.AT_LEAST_ONCE);
        assertThat(
                        StarJoin.of(data.saleStream(env))
                                .select("note")
                                .dimension(data.customerStream(env), d -> d.on("customer", "id"))
                                .toRows())
                .isNotNull();
    }

    @Test
    void shouldRejectASecondJoinWithTheSameUid() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        StarJoin<Sale> join =
                StarJoin.of(data.saleStream(env))
                        .select("note")
                        .dimension(data.customerStream(env), d -> d.on("customer", "id"));
        join.explain();
        join.toRows();
        join.explain();
        assertThatThrownBy(join::toRows)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Two joins of the job have the uid 'star-join'. Give each its own with"
                                + " .uid(...).");
        assertThatThrownBy(() -> join.groupBy().count("n").toRows())
                .hasMessageStartingWith("Grouped join selects columns");
        assertThat(join.uid("second").toRows()).isNotNull();
    }

    @Test
    void shouldAcceptTheSameUidInTheNextJobOfAnEnvironment() throws Exception {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        for (int job = 0; job < 2; job++) {
            StarJoin.of(data.saleStream(env))
                    .select("note")
                    .dimension(data.customerStream(env), d -> d.on("customer", "id"))
                    .toRows()
                    .sinkTo(new DiscardingSink<>());
            assertThat(env.getStreamGraph().getStreamNodes()).isNotEmpty();
        }
    }
}
