// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.api.explain.DeviceSpread;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import io.github.gpujoin.kernels.gpu.TableSpread;
import java.util.function.Consumer;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Explanations of joins that do not run. */
class ExplainTest {

    private static final long LIMIT = 1 << 20;

    private final Configuration config = new Configuration();
    private StreamExecutionEnvironment env;

    ExplainTest() {
        config.set(GpuJoinOptions.REPLICATE_MAX_BYTES, new MemorySize(LIMIT));
    }

    private StreamExecutionEnvironment env() {
        env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        return env;
    }

    private static DataStream<Row> rows(StreamExecutionEnvironment env) {
        RowTypeInfo type =
                (RowTypeInfo) Types.ROW_NAMED(new String[] {"k", "v"}, Types.LONG, Types.LONG);
        return env.fromSource(
                        new NumberSequenceSource(1, 9), WatermarkStrategy.noWatermarks(), "numbers")
                .map(n -> Row.of(n, n))
                .returns(type);
    }

    private static StarJoin<Row> star(StreamExecutionEnvironment env) {
        return StarJoin.of(rows(env)).select("v").uid("sales");
    }

    private void dimension(StarJoin<Row> star, String name) {
        dimension(star, name, d -> {});
    }

    private void dimension(StarJoin<Row> star, String name, Consumer<Dimension<Row>> more) {
        star.dimension(rows(env), d -> more.accept(d.named(name).on("k", "k")));
    }

    @Test
    void shouldSayWhyEachDimensionIsDistributedAsItIs() {
        config.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        StarJoin<Row> star = star(env());
        dimension(star, "day", d -> d.expectedBytes(LIMIT));
        dimension(star, "shop");
        dimension(star, "order", d -> d.expectedBytes(LIMIT + 2));
        dimension(star, "item", d -> d.expectedBytes(LIMIT + 1));
        dimension(star, "code", Dimension::replicated);
        dimension(star, "rate", Dimension::changelog);
        assertThat(
                        star.explain()
                                .toString()
                                .lines()
                                .map(line -> line.strip().replaceAll(" +", " ")))
                .startsWith(
                        "Star join sales, planned: transport=flink, unaligned checkpoints=no"
                                + " (NOT_ENABLED), chunks of a key group (FEW_KEY_GROUPS)",
                        "dimension kind distribution why partitions engine why rows bytes",
                        "day INNER REPLICATED WITHIN_LIMIT all cpu ASKED - 1.0 MiB expected",
                        "shop INNER REPLICATED SIZE_UNKNOWN all cpu ASKED - -",
                        "order INNER PARTITIONED OVER_LIMIT all cpu ASKED - 1.0 MiB expected",
                        "item INNER REPLICATED OTHER_DIMENSION_PARTITIONED all cpu ASKED - 1.0 MiB expected",
                        "code INNER REPLICATED ASKED all cpu ASKED - -",
                        "rate INNER REPLICATED CHANGELOG all cpu ASKED - -",
                        "filters of facts: day (FILTERS), shop (FILTERS), order (FILTERS),"
                                + " item (FILTERS), code (FILTERS), rate (DIMENSION_CHANGES)");
    }

    @Test
    void shouldSayWhichDimensionsFilterTheFacts() {
        StarJoin<Row> star = star(env());
        dimension(star, "inner", d -> {});
        dimension(star, "left", Dimension::left);
        dimension(star, "semi", Dimension::semi);
        dimension(star, "anti", Dimension::anti);
        assertThat(star.explain().toString())
                .contains(
                        "inner (FILTERS), left (KEEPS_FACTS), semi (FILTERS), anti (KEEPS_FACTS)\n");
    }

    /** Flink's Web UI shows the descriptions of operators. */
    @Test
    void shouldDescribeTheFiltersOfThePackerAndOfTheJoin() {
        StreamExecutionEnvironment env = env();
        StarJoin<Row> star = star(env);
        dimension(star, "inner", d -> {});
        dimension(star, "left", Dimension::left);
        star.toRows().sinkTo(new DiscardingSink<>());
        String filters = "filters of facts: inner (FILTERS), left (KEEPS_FACTS)";
        assertThat(env.getStreamGraph().getStreamNodes())
                .extracting(StreamNode::getOperatorDescription)
                .contains("sales, " + filters, "pack facts, " + filters);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSayThatFiltersAreOff(boolean isApproximate) {
        config.set(GpuJoinOptions.FACT_FILTERS, isApproximate);
        StreamExecutionEnvironment env = env();
        env.getCheckpointConfig().enableApproximateLocalRecovery(isApproximate);
        StarJoin<Row> star = star(env);
        dimension(star, "day");
        assertThat(star.explain().toString())
                .contains("filters of facts: day (FILTERS_OFF)\n")
                .contains("FILTERS_OFF: gpu-join.fact-filters is off");
    }

    private StarJoin<RowView> starOfFiles(StreamExecutionEnvironment env) {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("k", ColumnType.INT64), Column.of("quantity", ColumnType.INT32));
        ColumnarSource files = ColumnarSource.of(new NoFormat(schema), new Path("file:///none"));
        StarJoin<RowView> star =
                StarJoin.ofSource(env, files, "orders")
                        .where(ColumnPredicate.column("quantity").between(1, 24))
                        .where(ColumnPredicate.column("quantity").notEqualTo(7))
                        .where(ColumnPredicate.column("k").greaterThan(4))
                        .select("k")
                        .uid("sales");
        star.dimension(rows(env), d -> d.named("day").on("k", "k"));
        return star;
    }

    @Test
    void shouldNameTheConditionsThatReachTheSource() {
        StarJoin<RowView> star = starOfFiles(env());

        assertThat(star.explain().toString())
                .contains(
                        "  filters of facts: day (FILTERS)\n"
                                + "  conditions for a chained source of facts:"
                                + " quantity {1..24}, quantity {..6, 8..}, k {5..}\n");
        assertThat(star.explain().withChunks(ReasonCode.MANY_KEY_GROUPS).sourceConditions())
                .containsExactly("quantity {1..24}", "quantity {..6, 8..}", "k {5..}");
    }

    @Test
    void shouldNameNoConditionsThatReachNoSource() {
        StarJoin<Customer> stream =
                StarJoin.of(env().fromData(Customer.class, new Customer()))
                        .where(ColumnPredicate.column("id").lessThan(3))
                        .select("city");
        stream.dimension(rows(env), d -> d.on("id", "k"));
        config.set(GpuJoinOptions.FACT_FILTERS, false);

        assertThat(stream.explain().sourceConditions()).isEmpty();
        assertThat(starOfFiles(env()).explain().sourceConditions()).isEmpty();
        assertThat(starOfFiles(env()).explain().toString()).doesNotContain("conditions");
    }

    @ParameterizedTest
    @CsvSource({
        "256, false, chunks of a key group (FEW_KEY_GROUPS)",
        "257, false, chunks of a subtask (MANY_KEY_GROUPS)",
        "257, true, chunks of a key group (DIVIDED_BY_FLINK)"
    })
    void shouldSayWhoseRowsAChunkHas(int keyGroups, boolean unaligned, String expected) {
        config.set(CheckpointingOptions.ENABLE_UNALIGNED, unaligned);
        StarJoin<Row> star = star(env().setMaxParallelism(keyGroups));
        dimension(star, "order", Dimension::partitioned);
        assertThat(star.explain().toString()).contains(expected);
    }

    @Test
    void shouldMeasureTheDimensionThatMayBeTheLargest() {
        config.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        StarJoin<Row> star = star(env());
        dimension(star, "code", Dimension::replicated);
        dimension(star, "day", d -> d.expectedBytes(LIMIT));
        dimension(star, "shop");
        dimension(star, "item");
        assertThat(
                        star.explain()
                                .toString()
                                .lines()
                                .map(line -> line.strip().replaceAll(" +", " ")))
                .contains(
                        "code INNER REPLICATED ASKED all cpu ASKED - -",
                        "day INNER REPLICATED WITHIN_LIMIT all cpu ASKED - 1.0 MiB expected",
                        "shop INNER MEASURED MEASURED_WHILE_LOADED all cpu ASKED - -",
                        "item INNER REPLICATED SIZE_UNKNOWN all cpu ASKED - -");
    }

    @Test
    void shouldKnowBeforeTheRunWhatNoGpuJoins() {
        StarJoin<Row> star = star(env());
        for (int d = 0; d < 17; d++) {
            dimension(star, "day" + d, Dimension::left);
        }
        assertThat(star.explain().toString()).containsPattern("LEFT .* cpu +UNSUPPORTED_JOIN");
    }

    @Test
    void shouldLeaveTheEngineToTheSubtasksWhereAGpuMayJoin() {
        StarJoin<Row> star = star(env()).select();
        dimension(star, "day");
        assertThat(star.groupBy().count("n").explain().toString())
                .contains("gpu or cpu  AT_RUN_TIME");
    }

    @ParameterizedTest
    @EnumSource
    void shouldSayWhichRuleSpreadsTablesOverDevices(TableSpread spread) {
        config.set(GpuJoinOptions.GPU_SPREAD, spread);
        StarJoin<Row> star = star(env());
        dimension(star, "day");
        DeviceSpread rule = DeviceSpread.valueOf(spread.name());
        assertThat(star.explain().toString())
                .containsPattern("rows +bytes +spread\n.* - +- +" + rule + "\n")
                .endsWith("\n  " + rule + ": " + rule.sentence());
    }

    /** A join reads the options when its pipeline is built. */
    @Test
    void shouldShowTheWeightOfEachJoinOfAJob() {
        StarJoin<Row> first = star(env());
        dimension(first, "day");
        first.toRows();
        env.configure(new Configuration().set(GpuJoinOptions.GPU_WEIGHT, 4.0));
        StarJoin<Row> second = star(env).uid("stock");
        dimension(second, "shop");
        second.toRows();

        assertThat(StarJoin.explain(env))
                .extracting(JoinExplanation::gpuWeight)
                .containsExactly(1.0, 4.0);
        assertThat(StarJoin.explain(env).get(1).toString())
                .contains("\n  weight on the bus of a GPU: 4.0\n");
    }

    @Test
    void shouldNotShowTheWeightOfAJoinWithoutGpu() {
        config.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        StarJoin<Row> star = star(env());
        dimension(star, "day");

        assertThat(star.explain().toString()).doesNotContain("weight");
    }

    @Test
    void shouldNameTextGroupsThatAreAddedUpByCodes() {
        StarJoin<Row> star = star(env()).select();
        DataStream<Customer> customers =
                env.fromData(Customer.class, new Customer()).returns(Customer.class);
        star.dimension(customers, d -> d.named("customers").on("k", "id"));
        assertThat(star.groupBy("city", "id").count("n").explain().toString())
                .contains("\n  text groups, added up by codes: customers.city\n");
        assertThat(star.groupBy("id").count("n").explain().toString())
                .doesNotContain("text groups");
    }

    /** A dimension with a text. */
    public static class Customer {
        public long id;
        public String city = "";

        public Customer() {}
    }

    @Test
    void shouldExplainAJoinOfTwoStreams() {
        PairJoin.Keyed<Row, Row> join =
                PairJoin.build(rows(env()))
                        .probe(rows(env))
                        .where(b -> b.<Long>getFieldAs(0), Types.LONG)
                        .equalTo(p -> p.<Long>getFieldAs(0), Types.LONG);
        assertThat(join.explain().toString())
                .containsPattern("build +INNER +PARTITIONED +SIZE_UNKNOWN");
        assertThat(join.full().explain().toString())
                .containsPattern("build +FULL +PARTITIONED +KEEPS_BUILD_ROWS");
    }

    @Test
    void shouldExplainEveryJoinOfAnEnvironment() {
        StarJoin<Row> first = star(env());
        dimension(first, "day");
        StarJoin<Row> second = star(env).uid("stock");
        dimension(second, "shop");
        first.toRows();
        second.toRows();
        assertThat(StarJoin.explain(env))
                .extracting(JoinExplanation::toString)
                .hasSize(2)
                .anyMatch(plan -> plan.contains("sales"))
                .anyMatch(plan -> plan.contains("stock"));
    }

    @ParameterizedTest
    @CsvSource({
        "false, true, flink, NOT_ENABLED",
        "true, false, flink, BROADCAST_EDGE",
        "true, true, flink, ENABLED",
        "true, true, shm, RINGS"
    })
    void shouldSayOfUnalignedCheckpointsWhatFlinkDoes(
            boolean enabled, boolean partitioned, String transport, ReasonCode code) {
        config.set(CheckpointingOptions.ENABLE_UNALIGNED, enabled);
        config.set(GpuJoinOptions.TRANSPORT, transport);
        StarJoin<Row> star = star(env());
        dimension(
                star,
                "day",
                d -> {
                    if (partitioned) {
                        d.partitioned();
                    }
                });
        String yesOrNo = code == ReasonCode.ENABLED ? "yes" : "no";
        assertThat(star.explain().toString())
                .contains("unaligned checkpoints=" + yesOrNo + " (" + code + ")", code.sentence());
        star.toRows().sinkTo(new DiscardingSink<>());
        boolean onAllEdges =
                partitioned && transport.equals("flink"); // what the option cannot turn on
        assertThat(edgesIntoTheJoin(env.getStreamGraph()))
                .allMatch(edge -> edge.supportsUnalignedCheckpoints() == onAllEdges);
    }

    private static Iterable<StreamEdge> edgesIntoTheJoin(StreamGraph graph) {
        return graph.getStreamNodes().stream()
                .filter(node -> "sales".equals(node.getOperatorName()))
                .findFirst()
                .orElseThrow()
                .getInEdges();
    }
}
