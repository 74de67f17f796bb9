// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Streams of generated rows; facts wait until all rows of the dimension are sent.
 *
 * @param customers rows of the dimension
 * @param buyers whom the facts name
 */
record RecordSources(int customers, int buyers, long facts) {

    DataStream<Order> orders(StreamExecutionEnvironment env, CpuWindow window) {
        int all = buyers;
        return facts(env, window, Order.class, number -> RecordData.order(number, all));
    }

    DataStream<WideOrder> wideOrders(StreamExecutionEnvironment env, CpuWindow window) {
        int all = buyers;
        return facts(env, window, WideOrder.class, number -> RecordData.wideOrder(number, all));
    }

    private <T> DataStream<T> facts(
            StreamExecutionEnvironment env,
            CpuWindow window,
            Class<T> type,
            GeneratorFunction<Long, T> order) {
        int id = window.id();
        GeneratorFunction<Long, T> gated =
                number -> {
                    CpuWindow.of(id).awaitBuild();
                    return order.map(number);
                };
        return source(env, type, gated, facts);
    }

    DataStream<Sale> sales(StreamExecutionEnvironment env, CpuWindow window) {
        int all = buyers;
        return facts(env, window, Sale.class, number -> RecordData.sale(number, all));
    }

    DataStream<Customer> customers(StreamExecutionEnvironment env, CpuWindow window) {
        return rows(env, window, Customer.class, RecordData::customer);
    }

    DataStream<Rate> rates(StreamExecutionEnvironment env, CpuWindow window) {
        return rows(env, window, Rate.class, RecordData::rate);
    }

    private <T> DataStream<T> rows(
            StreamExecutionEnvironment env,
            CpuWindow window,
            Class<T> type,
            GeneratorFunction<Long, T> row) {
        int id = window.id();
        GeneratorFunction<Long, T> counted =
                number -> {
                    CpuWindow.of(id).buildRowSent();
                    return row.map(number);
                };
        return source(env, type, counted, customers);
    }

    private static <T> DataStream<T> source(
            StreamExecutionEnvironment env,
            Class<T> type,
            GeneratorFunction<Long, T> row,
            long count) {
        return env.fromSource(
                new DataGeneratorSource<>(row, count, TypeInformation.of(type)),
                WatermarkStrategy.noWatermarks(),
                type.getSimpleName());
    }
}
