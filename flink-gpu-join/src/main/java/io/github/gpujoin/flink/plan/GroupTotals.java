// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.flink.emit.GroupFields;
import java.util.LinkedHashMap;
import java.util.stream.IntStream;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.types.RowUtils;

/**
 * Adds up the partial groups of all subtasks in keyed state, and emits each group once, at the end
 * of the input. Sums of 64 bits wrap around.
 *
 * <p>Partial groups can arrive after the largest watermark, if one subtask ended while the others
 * were idle. So the operator waits for the end of the input, and emits that watermark after the
 * groups.
 */
final class GroupTotals extends AbstractStreamOperator<Row>
        implements OneInputStreamOperator<Row, Row>, BoundedOneInput {

    private static final long serialVersionUID = 1L;

    private static final ValueStateDescriptor<long[]> SUMS =
            new ValueStateDescriptor<>(
                    "sums", PrimitiveArrayTypeInfo.LONG_PRIMITIVE_ARRAY_TYPE_INFO);

    private final GroupFields fields;
    private transient ValueState<long[]> sums;
    private transient LinkedHashMap<String, Integer> positionByName;

    GroupTotals(GroupFields fields) {
        this.fields = fields;
    }

    /** Adds the operator behind partial groups. The totals have the same fields. */
    static SingleOutputStreamOperator<Row> of(
            SingleOutputStreamOperator<Row> partial, GroupFields fields, String uid) {
        int[] columns = IntStream.range(0, fields.columns().size()).toArray();
        return partial.keyBy(row -> Row.project(row, columns), fields.keyType())
                .transform("add groups up", fields.rowType(), new GroupTotals(fields))
                .uid(uid);
    }

    @Override
    public void open() throws Exception {
        super.open();
        sums = getPartitionedState(SUMS);
        positionByName = fields.positionByName();
    }

    @Override
    public void processElement(StreamRecord<Row> element) throws Exception {
        Row group = element.getValue();
        long[] total = sums.value();
        if (total == null) {
            total = new long[fields.aggregateNames().size()];
        }
        for (int a = 0; a < total.length; a++) {
            total[a] += (Long) group.getField(fields.columns().size() + a);
        }
        sums.update(total);
    }

    @Override
    public void processWatermark(Watermark mark) throws Exception {
        if (mark.getTimestamp() != Long.MAX_VALUE) {
            super.processWatermark(mark);
        }
    }

    @Override
    public void endInput() throws Exception {
        this.<Row>getKeyedStateBackend()
                .applyToAllKeys(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        SUMS,
                        (group, total) -> {
                            emit(group, total.value());
                            total.clear();
                        });
        // Flink drops a watermark of an idle stream.
        output.emitWatermarkStatus(WatermarkStatus.ACTIVE);
        output.emitWatermark(Watermark.MAX_WATERMARK);
    }

    private void emit(Row group, long[] total) {
        Object[] values = new Object[group.getArity() + total.length];
        for (int i = 0; i < values.length; i++) {
            values[i] =
                    i < group.getArity() ? group.getField(i) : (Object) total[i - group.getArity()];
        }
        output.collect(
                new StreamRecord<>(
                        RowUtils.createRowWithNamedPositions(
                                RowKind.INSERT, values, positionByName)));
    }
}
