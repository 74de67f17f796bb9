// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

import java.io.Serializable;
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

    DataStream<Sale> sales(StreamExecutionEnvironment env, CpuWindow window) {
        int all = buyers;
        return facts(env, window, Sale.class, number -> RecordData.sale(number, all));
    }

    private <T> DataStream<T> facts(
            StreamExecutionEnvironment env,
            CpuWindow window,
            Class<T> type,
            GeneratorFunction<Long, T> row) {
        return source(env, window, CpuWindow::awaitBuild, type, row, facts);
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
        return source(env, window, CpuWindow::buildRowSent, type, row, customers);
    }

    /** What happens in the window before each row. */
    private interface BeforeRow extends Serializable {
        void run(CpuWindow window) throws InterruptedException;
    }

    private static <T> DataStream<T> source(
            StreamExecutionEnvironment env,
            CpuWindow window,
            BeforeRow before,
            Class<T> type,
            GeneratorFunction<Long, T> row,
            long count) {
        int id = window.id();
        GeneratorFunction<Long, T> generator =
                number -> {
                    before.run(CpuWindow.of(id));
                    return row.map(number);
                };
        return env.fromSource(
                new DataGeneratorSource<>(generator, count, TypeInformation.of(type)),
                WatermarkStrategy.noWatermarks(),
                type.getSimpleName());
    }
}
