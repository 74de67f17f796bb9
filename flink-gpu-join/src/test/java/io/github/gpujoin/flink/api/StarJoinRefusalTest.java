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
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Configurations that the builder of a star join rejects, and the names in its messages. */
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
    void shouldRejectARangeThatEndsBeforeItsStart() {
        ColumnPredicate.Column quantity = ColumnPredicate.column("quantity");
        assertThatThrownBy(() -> quantity.between(24, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Range of column 'quantity' ends before its start: from=24, to=1. Swap the bounds.");
        assertThat(quantity.between(24, 24).values().contains(24)).isTrue();
    }

    @Test
    void shouldRejectAPredicateWithoutValues() {
        ColumnPredicate.Column quantity = ColumnPredicate.column("quantity");
        assertThatThrownBy(quantity::in)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Predicate of column 'quantity' accepts no fact: in() has no values. Name at least one.");
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

    @Test
    void shouldRejectChangesOfADimensionWhoseJoinWasBuilt() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        AtomicReference<Dimension<Customer>> kept = new AtomicReference<>();
        StarJoin<Sale> star =
                StarJoin.of(data.saleStream(env))
                        .select("quantity")
                        .dimension(
                                data.customerStream(env),
                                d -> kept.set(d.named("buyer").on("customer", "id")));
        kept.get().select("nation");
        star.explain();
        kept.get().left();
        star.toRows();
        assertThatThrownBy(() -> kept.get().select("segment"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Dimension 'buyer' was changed after its join was built. Configure it inside"
                                + " .dimension(...).");
        assertThatThrownBy(() -> kept.get().semi()).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRejectChangesOfAJoinThatWasBuilt() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        StarJoin<Sale> star =
                StarJoin.of(data.saleStream(env))
                        .dimension(data.customerStream(env), d -> d.on("customer", "id"))
                        .uid("built");
        star.select("quantity");
        star.explain();
        star.select("quantity").toRows();

        assertThatThrownBy(() -> star.select("id"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Join 'built' was changed after it was built, by .select(...). Call"
                                + " .select(...) before the method that returns the results.");
        assertThatThrownBy(() -> star.where(sale -> true)).hasMessageContaining(".where(...)");
        assertThatThrownBy(() -> star.ttl(Duration.ofHours(1))).hasMessageContaining(".ttl(...)");
        assertThatThrownBy(() -> star.badRecords(bad -> {}))
                .hasMessageContaining(".badRecords(...)");
        assertThatThrownBy(() -> star.dimension(data.productStream(env), d -> {}))
                .hasMessageContaining(".dimension(...)");
        assertThat(star.uid("again").toRows()).isNotNull();
    }

    @Test
    void shouldRejectAnotherUidOnceATagWasReturned() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        StarJoin<Sale> star =
                StarJoin.of(data.saleStream(env))
                        .dimension(
                                data.customerStream(env), d -> d.on("customer", "id").versioned())
                        .uid("first");
        star.lateVersions();
        assertThat(star.uid("first")).isSameAs(star);
        assertThatThrownBy(() -> star.uid("second"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Join 'first' has side outputs under its uid: new uid=second. Call .uid(...)"
                                + " before .lateFacts() and .lateVersions().");
    }

    @Test
    void shouldAddNoOperatorOfAJoinThatIsRefused() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        AtomicReference<Dimension<Customer>> endless = new AtomicReference<>();
        DataStream<Customer> customers =
                env.fromSource(
                                new NumberSequenceSource(0, 1) {
                                    @Override
                                    public Boundedness getBoundedness() {
                                        return Boundedness.CONTINUOUS_UNBOUNDED;
                                    }
                                },
                                WatermarkStrategy.noWatermarks(),
                                "endless")
                        .map(n -> new Customer())
                        .returns(Customer.class);
        StarJoin<Sale> star =
                StarJoin.of(data.saleStream(env))
                        .select("quantity")
                        .dimension(data.productStream(env), d -> d.on("product", "id"))
                        .dimension(customers, d -> endless.set(d.on("customer", "id")));
        assertThatThrownBy(star::toRows).hasMessageContaining("'endless'");
        endless.get().completeAtWatermark(7);
        star.toRows().sinkTo(new DiscardingSink<>());
        assertThat(env.getStreamGraph().getStreamNodes())
                .extracting(StreamNode::getTransformationUID)
                .filteredOn(Objects::nonNull)
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldRejectChangesOfAGroupedJoinThatWasBuilt() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        StarJoin<Sale> star =
                StarJoin.of(data.saleStream(env))
                        .dimension(data.customerStream(env), d -> d.on("customer", "id"));
        GroupedJoin grouped = star.groupBy();
        grouped.count("n").toPartialRows();

        assertThatThrownBy(() -> grouped.count("m"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(
                        "Join 'star-join' was changed after it was built, by .count(");
        assertThatThrownBy(() -> grouped.sum("quantity", "s")).hasMessageContaining(".sum(...)");
        assertThatThrownBy(() -> grouped.sumOfProduct("quantity", "quantity", "p"))
                .hasMessageContaining(".sumOfProduct(...)");
        assertThatThrownBy(() -> star.where(sale -> true)).hasMessageContaining(".where(...)");
    }

    @Test
    void shouldRejectChangesOfAPairJoinThatWasBuilt() {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        PairJoin.Keyed<Customer, Sale> pair =
                PairJoin.build(data.customerStream(env))
                        .probe(data.saleStream(env))
                        .where(customer -> customer.id)
                        .equalTo(sale -> sale.customer)
                        .uid("pair");
        pair.left().apply((customer, sale) -> sale, TypeInformation.of(Sale.class));

        assertThatThrownBy(pair::full)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Join 'pair' was changed after it was built, by .full(...). Call .full(...)"
                                + " before the method that returns the results.");
        assertThatThrownBy(() -> pair.matching((customer, sale) -> true))
                .hasMessageContaining(".matching(...)");
        assertThatThrownBy(() -> pair.expectedBytes(1)).hasMessageContaining(".expectedBytes(");
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
        StarJoin<Sale> late =
                StarJoin.of(data.saleStream(env))
                        .select("note")
                        .dimension(
                                data.customerStream(env),
                                d -> d.on("customer", "id").joinLateRows());
        assertThatThrownBy(late::toRows)
                .hasMessage(
                        "Dimension 'dimension-0' joins late rows, but is not versioned. Add .versioned(), or remove .joinLateRows().");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "id | customer | note | Swapped columns: .on(\"id\", \"customer\") of dimension 'people'.",
                "customer | key | note | Input 'people' has no column 'key'. Its columns are [",
                "customer | id | * | Input 'facts' selects \"*\", but state has a fixed list of columns.",
                "customer | id | note AS a AS b | Selection has two names: 'note AS a AS b'.",
                "customer | id | note.text | Input 'facts' has no column 'note.text': fields of 'note' are no columns."
            })
    void shouldNameColumnsThatCannotBe(
            String fact, String column, String selected, String message) {
        SalesData data = new SalesData(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        assertThatThrownBy(
                        () ->
                                StarJoin.of(data.saleStream(env))
                                        .select(selected)
                                        .dimension(
                                                data.customerStream(env),
                                                d -> d.named("people").on(fact, column))
                                        .toRows())
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
