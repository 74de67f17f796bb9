// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.symmetric.RowIdentity;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.AbstractRichFunction;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedMultiInputStreamOperatorTestHarness;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.generated.GeneratedJoinCondition;
import org.apache.flink.table.runtime.generated.JoinCondition;
import org.apache.flink.table.runtime.operators.join.FlinkJoinType;
import org.apache.flink.table.runtime.operators.join.stream.StreamingMultiJoinOperatorFactory;
import org.apache.flink.table.runtime.operators.join.stream.keyselector.AttributeBasedJoinKeyExtractor;
import org.apache.flink.table.runtime.operators.join.stream.keyselector.AttributeBasedJoinKeyExtractor.ConditionAttributeRef;
import org.apache.flink.table.runtime.operators.join.stream.utils.JoinInputSideSpec;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.RowType;

/** The operator of Flink's own multi-way join, which a test feeds row by row. */
final class FlinkMultiJoin implements JoinSubtasks.RowJoin, AutoCloseable {

    private final KeyedMultiInputStreamOperatorTestHarness<RowData, RowData> harness;
    private final RowDataSerializer rows;

    FlinkMultiJoin(MultiJoinShape shape) throws Exception {
        RowType type = shape.type();
        this.rows = new RowDataSerializer(type);
        ColumnSelector key = new ColumnSelector(type, JoinShape.KEY);
        this.harness =
                new KeyedMultiInputStreamOperatorTestHarness<>(
                        factory(shape), key.getProducedType());
        for (int input = 0; input < shape.size(); input++) {
            harness.setKeySelector(input, key);
        }
        harness.setup(InternalTypeInfo.of(shape.resultType()).toSerializer());
        harness.open();
    }

    private static StreamingMultiJoinOperatorFactory factory(MultiJoinShape shape) {
        InternalTypeInfo<RowData> type = InternalTypeInfo.of(shape.type());
        List<JoinInputSideSpec> inputs = new ArrayList<>();
        List<FlinkJoinType> kinds = new ArrayList<>();
        GeneratedJoinCondition[] conditions = new GeneratedJoinCondition[shape.size()];
        Map<Integer, List<ConditionAttributeRef>> keys = new HashMap<>();
        keys.put(0, List.of(new ConditionAttributeRef(-1, -1, 0, JoinShape.KEY)));
        for (int input = 0; input < shape.size(); input++) {
            RowIdentity identity = shape.identity(input);
            inputs.add(ColumnSelector.side(identity, type));
            kinds.add(shape.leftJoins().get(input) ? FlinkJoinType.LEFT : FlinkJoinType.INNER);
            if (input > 0) {
                int compared = shape.comparedInputs().get(input);
                conditions[input] = new Condition(shape, input);
                keys.put(
                        input,
                        List.of(
                                new ConditionAttributeRef(
                                        compared, JoinShape.KEY, input, JoinShape.KEY)));
            }
        }
        return new StreamingMultiJoinOperatorFactory(
                Collections.nCopies(shape.size(), type),
                inputs,
                kinds,
                null,
                new long[shape.size()],
                conditions,
                new AttributeBasedJoinKeyExtractor(
                        keys, Collections.nCopies(shape.size(), shape.type())),
                keys);
    }

    @Override
    public List<RowData> accept(int input, RowData row) throws Exception {
        harness.getOutput().clear();
        harness.processElement(input, new StreamRecord<>(rows.toBinaryRow(row).copy()));
        return new ArrayList<>(harness.extractOutputValues());
    }

    @Override
    public void close() throws Exception {
        harness.close();
    }

    private static final class Condition extends GeneratedJoinCondition {

        private static final long serialVersionUID = 1L;

        private final MultiJoinShape shape;
        private final int input;

        Condition(MultiJoinShape shape, int input) {
            super("Condition", "", new Object[0]);
            this.shape = shape;
            this.input = input;
        }

        @Override
        public JoinCondition newInstance(ClassLoader classes) {
            return new Evaluated(shape, input);
        }
    }

    /** Compares the key, and ids if the step does. */
    private static final class Evaluated extends AbstractRichFunction implements JoinCondition {

        private static final long serialVersionUID = 1L;

        private final MultiJoinShape shape;
        private final int input;

        Evaluated(MultiJoinShape shape, int input) {
            this.shape = shape;
            this.input = input;
        }

        @Override
        public boolean apply(RowData left, RowData right) {
            int compared = shape.comparedInputs().get(input);
            int key = 3 * compared + JoinShape.KEY;
            if (left.isNullAt(key) || right.isNullAt(JoinShape.KEY)) {
                return false;
            }
            boolean isSameKey =
                    shape.hasTextKeys()
                            ? left.getString(key).equals(right.getString(JoinShape.KEY))
                            : left.getInt(key) == right.getInt(JoinShape.KEY);
            return isSameKey
                    && (!shape.hasConditions().get(input)
                            || MultiJoinShape.isAccepted(left, compared, right));
        }
    }
}
