// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.memory;

import io.github.gpujoin.flink.api.StarJoin;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.types.Row;

/** A job whose partitioned build side has rows of 1 KiB, and a fact for every tenth of them. */
public final class LargeBuildSide {

    /** Accumulator of the results that have the fact's number. */
    static final String RESULTS = "results";

    private static final int ROWS_PER_FACT = 10;

    /** Keys far apart, so that tables store them. */
    private static final long KEY_DISTANCE = 0x9E3779B97F4A7C15L;

    private static final String PADDING = "-".repeat(1_000);

    private LargeBuildSide() {}

    /** A row of either side; the text of facts is not selected. */
    public static class Item {
        public long key;
        public long number;
        public String text;

        public Item() {}
    }

    /** Defines the job for so many build rows. */
    static void define(StreamExecutionEnvironment env, long rows) {
        StarJoin.of(items(env, "facts", factCount(rows), ROWS_PER_FACT))
                .select("number AS fact")
                .dimension(
                        items(env, "dimension", rows, 1),
                        d -> d.on("key", "key").select("number", "text").partitioned())
                .toRows()
                .map(new Count())
                .returns(Types.INT)
                .sinkTo(new DiscardingSink<>());
    }

    static long factCount(long rows) {
        return rows / ROWS_PER_FACT;
    }

    private static DataStream<Item> items(
            StreamExecutionEnvironment env, String name, long count, int step) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        name)
                .map(
                        n -> {
                            Item item = new Item();
                            item.number = n * step;
                            item.key = item.number * KEY_DISTANCE;
                            item.text = PADDING + item.number;
                            return item;
                        })
                .returns(Item.class);
    }

    private static final class Count extends RichMapFunction<Row, Integer> {

        private static final long serialVersionUID = 1L;

        private transient LongCounter results;

        @Override
        public void open(OpenContext context) {
            results = new LongCounter();
            getRuntimeContext().addAccumulator(RESULTS, results);
        }

        @Override
        public Integer map(Row row) {
            if (row.getField(0).equals(row.getField(1))) {
                results.add(1);
            }
            return 0;
        }
    }
}
