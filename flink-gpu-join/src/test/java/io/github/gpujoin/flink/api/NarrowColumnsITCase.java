// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytes and shorts as keys and other columns, joined with integers of other widths. */
class NarrowColumnsITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    /** A fact. */
    public static class Sale {
        public int number;
        public byte product;
        public short day;
        public Short discount;

        static Sale random(Random random, int number) {
            Sale sale = new Sale();
            sale.number = number;
            sale.product = (byte) random.nextInt();
            sale.day = (short) (random.nextInt(260) - 130);
            sale.discount = random.nextBoolean() ? null : (short) random.nextInt();
            return sale;
        }
    }

    /** A row of a dimension whose key is wider than the facts'. */
    public static class Product {
        public long id;
        public byte rating;
        public short stock;
    }

    /** Some products, and ids that only their lowest bytes have in common with a product. */
    private static List<Product> products(Random random) {
        List<Product> products = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            Product product = new Product();
            product.id = i - 100L;
            product.rating = (byte) random.nextInt();
            product.stock = (short) random.nextInt();
            products.add(product);
        }
        return products;
    }

    @ParameterizedTest(name = "partitioned={0}")
    @ValueSource(booleans = {false, true})
    void shouldJoinIntegersOfAllWidths(boolean partitioned) throws Exception {
        Random random = new Random(3);
        List<Sale> sales = new ArrayList<>();
        for (int number = 0; number < 1_000; number++) {
            sales.add(Sale.random(random, number));
        }
        List<Product> products = products(random);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(2);
        DataStream<Row> days =
                env.fromData(
                        List.of(Row.of((byte) -128, "first"), Row.of((byte) 127, "last")),
                        Types.ROW_NAMED(new String[] {"day", "name"}, Types.BYTE, Types.STRING));
        SingleOutputStreamOperator<Chunk> chunks =
                StarJoin.of(env.fromData(sales))
                        .select("number", "discount", "product")
                        .dimension(
                                env.fromData(products),
                                d -> {
                                    d.named("products").on("product", "id");
                                    d.select("id", "rating", "stock");
                                    if (partitioned) {
                                        d.partitioned();
                                    }
                                })
                        .dimension(
                                days,
                                d -> d.named("days").on("day", "day").left().select("day", "name"))
                        .toChunks();
        List<Column> columns = ((ChunkTypeInfo) chunks.getType()).schema().columns();
        assertThat(columns)
                .containsExactly(
                        Column.of("number", ColumnType.INT32),
                        Column.nullable("discount", ColumnType.INT16),
                        Column.of("product", ColumnType.INT8),
                        Column.of("id", ColumnType.INT64),
                        Column.of("rating", ColumnType.INT8),
                        Column.of("stock", ColumnType.INT16),
                        Column.nullable("day", ColumnType.INT8),
                        Column.nullable("name", ColumnType.STRING));
        DataStream<Row> rows =
                StarJoin.ofChunks(chunks)
                        .select(columns.stream().map(Column::name).toArray(String[]::new))
                        .dimension(
                                env.fromData(products),
                                d -> d.named("ratings").on("rating", "rating").semi())
                        .uid("chunks")
                        .toRows();

        assertThat(collect(rows)).containsExactlyInAnyOrderElementsOf(expected(sales, products));
    }

    private static List<String> expected(List<Sale> sales, List<Product> products) {
        List<String> results = new ArrayList<>();
        for (Sale sale : sales) {
            for (Product product : products) {
                if (product.id == sale.product) {
                    boolean isNamed = sale.day == -128 || sale.day == 127;
                    String name = sale.day < 0 ? "first" : "last";
                    results.add(
                            Row.of(
                                            sale.number,
                                            sale.discount,
                                            sale.product,
                                            product.id,
                                            product.rating,
                                            product.stock,
                                            isNamed ? sale.day : null,
                                            isNamed ? name : null)
                                    .toString());
                }
            }
        }
        return results;
    }

    private static List<String> collect(DataStream<Row> rows) throws Exception {
        List<String> texts = new ArrayList<>();
        try (CloseableIterator<Row> iterator = rows.executeAndCollect()) {
            iterator.forEachRemaining(row -> texts.add(row.toString()));
        }
        return texts;
    }
}
