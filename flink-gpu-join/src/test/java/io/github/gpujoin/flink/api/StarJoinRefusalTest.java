// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.SalesData.environment;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.flink.api.SalesData.Customer;
import io.github.gpujoin.flink.api.SalesData.Enriched;
import io.github.gpujoin.flink.api.SalesData.Sale;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the builders refuse, and that they name it. */
class StarJoinRefusalTest {

    @Test
    void shouldRefuseAPlaceForNullThatHasNone() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        StarJoin<Sale> left =
                StarJoin.of(data.saleStream(env))
                        .select("quantity", "price", "note")
                        .dimension(
                                data.customerStream(env),
                                d -> d.on("customer", "id").select("nation", "segment").left());
        assertThatThrownBy(() -> left.toPojos(Enriched.class))
                .hasMessageContaining("null in facts without a match")
                .hasMessageContaining("column=segment");
        assertThatThrownBy(
                        () ->
                                StarJoin.of(data.saleStream(env))
                                        .where(ColumnPredicate.column("product").greaterOrEqual(3))
                                        .dimension(
                                                data.productStream(env),
                                                d -> d.on("product", "id").anti())
                                        .groupBy()
                                        .count("n")
                                        .toRows())
                .hasMessageContaining("may be null: column=product");
    }

    @Test
    void shouldRejectTwoDimensionsOfOneName() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        StarJoin<Sale> star =
                StarJoin.of(data.saleStream(env))
                        .select("quantity")
                        .dimension(
                                data.customerStream(env), d -> d.named("date").on("customer", "id"))
                        .dimension(
                                data.productStream(env), d -> d.named("date").on("product", "id"));
        assertThatThrownBy(star::toRows)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Two dimensions are named 'date'. Rename one with .named(...).");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "  ", "facts"})
    void shouldRejectABlankOrReservedNameOfADimension(String name) {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        StarJoin<Sale> star = StarJoin.of(data.saleStream(env)).select("quantity");
        assertThatThrownBy(() -> star.dimension(data.customerStream(env), d -> d.named(name)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "A dimension has a blank or reserved name: name='%s'. Choose another name"
                                + " with .named(...).",
                        name);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, 0, -1})
    void shouldRejectATimeToLiveOutOfRange(long seconds) {
        StreamExecutionEnvironment env = environment("cpu", 1);
        DataStream<Sale> facts = new SalesData(1).saleStream(env);
        assertThatThrownBy(() -> StarJoin.of(facts).ttl(Duration.ofSeconds(seconds)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Time to live is out of range: input=facts");
    }

    @Test
    void shouldNameWhatIsMissing() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        DataStream<Sale> facts = data.saleStream(env);
        DataStream<Customer> dimension = data.customerStream(env);
        assertThatThrownBy(
                        () ->
                                StarJoin.of(facts)
                                        .select("note")
                                        .dimension(dimension, d -> d.on("custmer", "id"))
                                        .toRows())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("custmer")
                .hasMessageContaining("customer");
        assertThatThrownBy(
                        () ->
                                StarJoin.of(facts)
                                        .select("note")
                                        .dimension(dimension, d -> d.on("note", "id"))
                                        .toRows())
                .hasMessageStartingWith("Key types differ: dimension 'dimension-0' has")
                .hasMessageContaining("String");
        assertThatThrownBy(
                        () ->
                                StarJoin.of(facts)
                                        .select("note")
                                        .dimension(dimension, d -> {})
                                        .toRows())
                .hasMessageContaining("No join key: dimension=");
        assertThatThrownBy(() -> StarJoin.of(facts).select("note").toRows())
                .hasMessage("No dimension: uid=star-join. Add one with .dimension(...).");
        assertThatThrownBy(
                        () ->
                                StarJoin.of(facts)
                                        .select("note")
                                        .dimension(
                                                dimension,
                                                d -> d.on("customer", "id").select("nation").semi())
                                        .toRows())
                .hasMessageContaining("semi- or anti-joined");
        assertThatThrownBy(
                        () ->
                                StarJoin.of(facts)
                                        .dimension(
                                                dimension,
                                                d -> d.on("customer", "id").partitioned())
                                        .dimension(
                                                dimension,
                                                d ->
                                                        d.on("customer", "id")
                                                                .partitioned()
                                                                .select("nation"))
                                        .toRows())
                .hasMessageContaining("Two dimensions are partitioned")
                .hasMessageContaining("dimension-1");
    }

    @Test
    void shouldRefuseTimesToLiveAndVersionsOfWhatHasNone() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        StarJoin<Sale> lasting =
                StarJoin.of(data.saleStream(env))
                        .select("note")
                        .dimension(
                                data.customerStream(env),
                                d -> d.on("customer", "id").ttl(Duration.ofHours(1)));
        assertThatThrownBy(lasting::toRows)
                .hasMessageContaining("that is no changelog: ttl=PT1H")
                .hasMessageContaining("dimension-0");
        assertThatThrownBy(lasting::lateVersions).isInstanceOf(IllegalArgumentException.class);
        StarJoin<Sale> replicated =
                StarJoin.of(data.saleStream(env))
                        .select("note")
                        .dimension(
                                data.customerStream(env),
                                d -> d.on("customer", "id").versioned().replicated());
        assertThatThrownBy(replicated::toRows)
                .hasMessageContaining("cannot be replicated")
                .hasMessageContaining("dimension-0");
        StarJoin<Sale> unversioned =
                StarJoin.of(data.saleStream(env))
                        .select("note")
                        .dimension(data.customerStream(env), d -> d.on("customer", "id"));
        assertThatThrownBy(unversioned::lateVersions)
                .hasMessageContaining("No versioned dimension");
    }

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
    void shouldRefuseBatchMode() {
        SalesData data = new SalesData(1);
        Configuration config = new Configuration();
        config.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        assertThatThrownBy(
                        () ->
                                StarJoin.of(data.saleStream(env))
                                        .select("note")
                                        .dimension(
                                                data.customerStream(env),
                                                d -> d.on("customer", "id"))
                                        .toRows())
                .hasMessageContaining("Set it to STREAMING")
                .hasMessageContaining("BATCH");
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

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "id | customer | note | Swapped columns: .on(\"id\", \"customer\") of dimension 'people'.",
                "customer | key | note | Input 'people' has no column 'key'. Its columns are [",
                "customer | id | * | Input 'facts' selects \"*\", but state has a fixed list of columns.",
                "customer | id | note.text | Input 'facts' has no column 'note.text': fields of 'note' are no columns."
            })
    void shouldNameColumnsThatCannotBe(
            String fact, String column, String selected, String message) {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        StarJoin<Sale> join =
                StarJoin.of(data.saleStream(env))
                        .select(selected)
                        .dimension(
                                data.customerStream(env), d -> d.named("people").on(fact, column));
        assertThatThrownBy(join::toRows)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void shouldSayHowUuidsAndEnumsBecomeKeys() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<UUID> uuids = env.fromData(TypeInformation.of(UUID.class), new UUID(1, 2));
        assertThatThrownBy(
                        () ->
                                PairJoin.build(uuids)
                                        .probe(uuids)
                                        .where(uuid -> uuid, uuids.getType())
                                        .equalTo(uuid -> uuid, uuids.getType()))
                .hasMessageEndingWith("Use toString(), or its two longs.");
        TypeInformation<JoinKind> kinds = TypeInformation.of(JoinKind.class);
        assertThatThrownBy(
                        () ->
                                PairJoin.build(uuids)
                                        .probe(uuids)
                                        .where(uuid -> JoinKind.INNER, kinds)
                                        .equalTo(uuid -> JoinKind.INNER, kinds))
                .hasMessageEndingWith("Use name() or ordinal().");
    }
}
