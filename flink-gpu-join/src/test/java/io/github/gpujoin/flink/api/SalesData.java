// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/** Sales, their customers and products, and environments to join them in. */
final class SalesData {

    private static final long SEED = 20240611;

    /** A fact. */
    public static class Sale {
        public long customer;
        public Integer product;
        public int quantity;
        public double price;
        public String note;

        public Sale() {}

        Sale(long customer, Integer product, int quantity, double price, String note) {
            this.customer = customer;
            this.product = product;
            this.quantity = quantity;
            this.price = price;
            this.note = note;
        }
    }

    /** A dimension. */
    public static class Customer {
        public long id;
        public String nation;
        public int segment;

        public Customer() {}

        Customer(long id, String nation, int segment) {
            this.id = id;
            this.nation = nation;
            this.segment = segment;
        }
    }

    /** A result. */
    public static class Enriched {
        public int quantity;
        public double price;
        public String note;
        public String nation;
        public int segment;

        @Override
        public String toString() {
            return quantity + "," + price + "," + note + "," + nation + "," + segment;
        }
    }

    final List<Sale> sales = new ArrayList<>();
    final List<Customer> customers = new ArrayList<>();
    final List<Row> products = new ArrayList<>();

    SalesData(int saleCount) {
        Random random = new Random(SEED);
        for (int i = 0; i < 200; i++) {
            String nation = i % 7 == 0 ? null : "nation, \"" + i % 25 + "\"";
            // Keys repeat: 150 different ones for 200 rows.
            customers.add(new Customer((i % 150) * 0x1_0000_0003L, nation, i % 5));
        }
        for (int i = 0; i < 50; i++) {
            products.add(Row.of(i * 3, "product " + i, i % 4 == 0 ? null : (long) i));
        }
        for (int i = 0; i < saleCount; i++) {
            sales.add(
                    new Sale(
                            random.nextInt(180) * 0x1_0000_0003L,
                            random.nextInt(10) == 0 ? null : random.nextInt(160),
                            random.nextInt(50),
                            random.nextInt(10_000) / 100.0,
                            random.nextInt(5) == 0 ? null : "note " + i));
        }
    }

    static StreamExecutionEnvironment environment(String engine, int parallelism) {
        Configuration config = new Configuration();
        config.set(PipelineOptions.GENERIC_TYPES, false);
        config.setString(GpuJoinOptions.ENGINE.key(), engine);
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "2kb");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(parallelism);
        return env;
    }

    DataStream<Sale> saleStream(StreamExecutionEnvironment env) {
        return env.fromData(sales);
    }

    DataStream<Customer> customerStream(StreamExecutionEnvironment env) {
        return env.fromData(customers);
    }

    DataStream<Row> productStream(StreamExecutionEnvironment env) {
        return env.fromData(
                products,
                Types.ROW_NAMED(
                        new String[] {"id", "name", "weight"},
                        Types.INT,
                        Types.STRING,
                        Types.LONG));
    }

    /** All records, as they print, sorted. */
    static <T> List<String> collect(DataStream<T> stream) throws Exception {
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<T> results = stream.executeAndCollect()) {
            results.forEachRemaining(row -> rows.add(values(row)));
        }
        rows.sort(Comparator.naturalOrder());
        return rows;
    }

    /** A Row without its field names, as {@code Row.of(...)} prints it. */
    private static String values(Object record) {
        if (record instanceof Row row) {
            Object[] fields = new Object[row.getArity()];
            for (int i = 0; i < fields.length; i++) {
                fields[i] = row.getField(i);
            }
            return Row.of(fields).toString();
        }
        return record.toString();
    }
}
