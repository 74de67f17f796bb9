package io.github.gpujoin.flink.pipeline;

import io.github.gpujoin.flink.emit.GroupFields;
import java.util.LinkedHashMap;
import java.util.stream.IntStream;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.types.RowUtils;
import org.apache.flink.util.Collector;

/**
 * Adds the groups of all subtasks up, in keyed state, and emits each group once, at the end of the
 * facts. Sums of 64 bits wrap around.
 */
final class GroupTotals extends KeyedProcessFunction<Row, Row, Row> {

    private static final long serialVersionUID = 1L;

    private final GroupFields fields;
    private transient ValueState<long[]> sums;
    private transient LinkedHashMap<String, Integer> positionByName;

    private GroupTotals(GroupFields fields) {
        this.fields = fields;
    }

    /** Totals of partial groups, with the same fields. */
    static SingleOutputStreamOperator<Row> of(
            SingleOutputStreamOperator<Row> partial, GroupFields fields, String uid) {
        int[] columns = IntStream.range(0, fields.columns().size()).toArray();
        return partial.keyBy(row -> Row.project(row, columns), fields.keyType())
                .process(new GroupTotals(fields), fields.rowType())
                .name("add groups up")
                .uid(uid);
    }

    @Override
    public void open(OpenContext context) {
        sums =
                getRuntimeContext()
                        .getState(
                                new ValueStateDescriptor<>(
                                        "sums",
                                        PrimitiveArrayTypeInfo.LONG_PRIMITIVE_ARRAY_TYPE_INFO));
        positionByName = fields.positionByName();
    }

    @Override
    public void processElement(Row group, Context context, Collector<Row> out) throws Exception {
        long[] total = sums.value();
        if (total == null) {
            // fires with the last watermark, which says that the facts have ended
            context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
            total = new long[fields.aggregateNames().size()];
        }
        for (int a = 0; a < total.length; a++) {
            total[a] += (Long) group.getField(fields.columns().size() + a);
        }
        sums.update(total);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Row> out)
            throws Exception {
        Row group = context.getCurrentKey();
        long[] total = sums.value();
        Object[] values = new Object[group.getArity() + total.length];
        for (int i = 0; i < values.length; i++) {
            values[i] =
                    i < group.getArity() ? group.getField(i) : (Object) total[i - group.getArity()];
        }
        out.collect(RowUtils.createRowWithNamedPositions(RowKind.INSERT, values, positionByName));
        sums.clear();
    }
}
