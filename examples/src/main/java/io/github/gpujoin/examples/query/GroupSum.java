// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;

/**
 * {@code sum(measure) group by columns}: keeps a sum for each group and emits it at the end of the
 * input. Sums are exact; one beyond 64 bits fails the job.
 */
final class GroupSum extends KeyedProcessFunction<Row, Row, Row> {

    private static final long serialVersionUID = 1L;

    /** What a row adds to its group's sum. */
    @FunctionalInterface
    interface Measure extends Serializable {
        long of(Row row);
    }

    private final Measure measure;
    private transient ValueState<Long> sum;

    private GroupSum(Measure measure) {
        this.measure = measure;
    }

    /**
     * Rows with the group's columns and then the sum.
     *
     * @param uid of the operator
     * @param rows of named fields
     */
    static DataStream<Row> of(
            String uid,
            DataStream<Row> rows,
            Measure measure,
            String sumName,
            String... groupColumns) {
        RowTypeInfo type = (RowTypeInfo) rows.getType();
        List<TypeInformation<?>> types = new ArrayList<>();
        for (String column : groupColumns) {
            types.add(type.getTypeAt(type.getFieldIndex(column)));
        }
        RowTypeInfo keyType =
                new RowTypeInfo(types.toArray(TypeInformation<?>[]::new), groupColumns);
        types.add(Types.LONG);
        List<String> names = new ArrayList<>(List.of(groupColumns));
        names.add(sumName);
        RowTypeInfo resultType =
                new RowTypeInfo(
                        types.toArray(TypeInformation<?>[]::new), names.toArray(String[]::new));
        int[] positions = Arrays.stream(groupColumns).mapToInt(type::getFieldIndex).toArray();
        return rows.keyBy(row -> Row.project(row, positions), keyType)
                .process(new GroupSum(measure), resultType)
                .name("sum by group")
                .uid(uid);
    }

    @Override
    public void open(OpenContext context) {
        sum = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", Types.LONG));
    }

    @Override
    public void processElement(Row row, Context context, Collector<Row> out) throws Exception {
        Long before = sum.value();
        if (before == null) {
            // Fires with the last watermark, which says that the input has ended.
            context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
            before = 0L;
        }
        sum.update(Math.addExact(before, measure.of(row)));
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Row> out)
            throws Exception {
        out.collect(Row.join(context.getCurrentKey(), Row.of(sum.value())));
        sum.clear();
    }
}
