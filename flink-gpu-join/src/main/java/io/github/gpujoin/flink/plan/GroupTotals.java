// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.flink.emit.GroupFields;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
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
 *
 * <p>Keyed state addresses group columns and sums by position. So a snapshot also holds the text of
 * their definition, and a restore with another definition fails.
 */
final class GroupTotals extends AbstractStreamOperator<Row>
        implements OneInputStreamOperator<Row, Row>, BoundedOneInput {

    private static final long serialVersionUID = 1L;

    private static final ValueStateDescriptor<long[]> SUMS =
            new ValueStateDescriptor<>(
                    "sums", PrimitiveArrayTypeInfo.LONG_PRIMITIVE_ARRAY_TYPE_INFO);

    private static final ListStateDescriptor<String> DEFINITION =
            new ListStateDescriptor<>("definition", Types.STRING);

    private final GroupFields fields;
    private final String definition;
    private transient ListState<String> savedDefinition;
    private transient ValueState<long[]> sums;
    private transient LinkedHashMap<String, Integer> positionByName;

    /**
     * @param definition columns of the groups and of the sums as text
     */
    GroupTotals(GroupFields fields, String definition) {
        this.fields = fields;
        this.definition = definition;
    }

    /**
     * Adds the operator behind partial groups. The totals have the same fields.
     *
     * @param definition columns of the groups and of the sums as text
     */
    static SingleOutputStreamOperator<Row> of(
            SingleOutputStreamOperator<Row> partial,
            GroupFields fields,
            String definition,
            String uid) {
        int[] columns = IntStream.range(0, fields.columns().size()).toArray();
        return partial.keyBy(row -> Row.project(row, columns), fields.keyType())
                .transform("add groups up", fields.rowType(), new GroupTotals(fields, definition))
                .uid(uid);
    }

    /**
     * Adds up partial groups in batch mode, which sorts them by group, so that no state is needed.
     */
    static SingleOutputStreamOperator<Row> ofBatch(
            SingleOutputStreamOperator<Row> partial, GroupFields fields, String uid) {
        int[] columns = IntStream.range(0, fields.columns().size()).toArray();
        return partial.keyBy(row -> Row.project(row, columns), fields.keyType())
                .reduce(new Addition(columns.length))
                .name("add groups up")
                .uid(uid);
    }

    /**
     * Adds up parts of a group.
     *
     * @param columns number of columns of the group, which are in front of the sums
     */
    private record Addition(int columns) implements ReduceFunction<Row> {

        @Override
        public Row reduce(Row a, Row b) {
            Row total = Row.copy(a);
            for (int i = columns; i < a.getArity(); i++) {
                total.setField(i, (Long) a.getField(i) + (Long) b.getField(i));
            }
            return total;
        }
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        savedDefinition = context.getOperatorStateStore().getUnionListState(DEFINITION);
        for (String saved : savedDefinition.get()) {
            if (!saved.equals(definition)) {
                throw new SuppressRestartsException(
                        new IllegalStateException(
                                "Groups in the snapshot are %s, and those of the job are %s. Keep their columns and order, or start without the snapshot."
                                        .formatted(saved, definition)));
            }
        }
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        boolean isFirst = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0;
        savedDefinition.update(isFirst ? List.of(definition) : List.of());
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
