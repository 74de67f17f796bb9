// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.cluster;

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

/**
 * A job whose partitioned build side is large: rows of 1 KiB, and a fact for every tenth of them.
 * Prints how many results came and the sum of their numbers.
 *
 * <p>Arguments: rows of the build side.
 */
public final class LargeBuildSide {

    static final int ROWS_PER_FACT = 10;

    /** Far apart, so that tables store keys. */
    private static final long KEY_DISTANCE = 0x9E3779B97F4A7C15L;

    private LargeBuildSide() {}

    private static final String PADDING = "-".repeat(1_000);

    /** A row of either side; the text of facts is not selected. */
    public static class Item {
        public long key;
        public long number;
        public String text;

        public Item() {}
    }

    public static void main(String[] arguments) throws Exception {
        long rows = Long.parseLong(arguments[0]);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        StarJoin.of(items(env, "facts", rows / ROWS_PER_FACT, ROWS_PER_FACT))
                .select("number AS fact")
                .dimension(
                        items(env, "dimension", rows, 1),
                        d -> d.on("key", "key").select("number", "text").partitioned())
                .toRows()
                .map(new Sum())
                .returns(Types.INT)
                .sinkTo(new DiscardingSink<>());
        var result = env.execute();
        System.out.printf(
                "RESULT count=%d sum=%d%n",
                result.<Long>getAccumulatorResult("count"),
                result.<Long>getAccumulatorResult("sum"));
    }

    /** What {@link #main} prints. */
    static String expected(long rows) {
        long count = rows / ROWS_PER_FACT;
        return "RESULT count=%d sum=%d".formatted(count, ROWS_PER_FACT * (count * (count - 1) / 2));
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

    /** Counts results and adds their numbers up. */
    private static final class Sum extends RichMapFunction<Row, Integer> {

        private static final long serialVersionUID = 1L;

        private transient LongCounter count;
        private transient LongCounter sum;

        @Override
        public void open(OpenContext context) {
            count = new LongCounter();
            sum = new LongCounter();
            getRuntimeContext().addAccumulator("count", count);
            getRuntimeContext().addAccumulator("sum", sum);
        }

        @Override
        public Integer map(Row row) {
            long fact = (long) row.getField(0);
            if (fact != (long) row.getField(1) || !row.getField(2).equals(PADDING + fact)) {
                throw new IllegalStateException("The row has another fact's number: " + row);
            }
            count.add(1);
            sum.add(fact);
            return 0;
        }
    }
}
