// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.AbstractRichFunction;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.generated.GeneratedJoinCondition;
import org.apache.flink.table.runtime.generated.JoinCondition;
import org.apache.flink.table.runtime.operators.join.stream.StreamingJoinOperator;
import org.apache.flink.table.runtime.operators.join.stream.StreamingSemiAntiJoinOperator;
import org.apache.flink.table.runtime.operators.join.stream.utils.JoinInputSideSpec;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.RowType;

/** The operator of Flink's own regular join, which a test feeds row by row. */
final class FlinkRegularJoin implements JoinSubtasks.RowJoin, AutoCloseable {

    private final KeyedTwoInputStreamOperatorTestHarness<RowData, RowData, RowData, RowData>
            harness;
    private final RowDataSerializer rows;

    FlinkRegularJoin(RegularJoinShape shape) throws Exception {
        RowType type = shape.type();
        this.rows = new RowDataSerializer(type);
        InternalTypeInfo<RowData> rowType = InternalTypeInfo.of(type);
        ColumnSelector key = new ColumnSelector(type, JoinShape.KEY);
        this.harness =
                new KeyedTwoInputStreamOperatorTestHarness<>(
                        operator(shape, rowType), key, key, key.getProducedType());
        harness.setup(InternalTypeInfo.of(shape.resultType()).toSerializer());
        harness.open();
    }

    private static TwoInputStreamOperator<RowData, RowData, RowData> operator(
            RegularJoinShape shape, InternalTypeInfo<RowData> type) {
        JoinInputSideSpec left = ColumnSelector.side(shape.left(), type);
        JoinInputSideSpec right = ColumnSelector.side(shape.right(), type);
        GeneratedJoinCondition condition = new Condition(shape.condition());
        boolean[] filterNulls = {true};
        long leftTtlMs = ttl(shape.leftTtlMs());
        long rightTtlMs = ttl(shape.rightTtlMs());
        BulkJoinKind kind = shape.kind();
        if (!kind.returnsPairs()) {
            return new StreamingSemiAntiJoinOperator(
                    kind == BulkJoinKind.ANTI,
                    type,
                    type,
                    condition,
                    left,
                    right,
                    filterNulls,
                    leftTtlMs,
                    rightTtlMs);
        }
        return new StreamingJoinOperator(
                type,
                type,
                condition,
                left,
                right,
                kind.keepsUnmatched(JoinSide.LEFT),
                kind.keepsUnmatched(JoinSide.RIGHT),
                filterNulls,
                leftTtlMs,
                rightTtlMs);
    }

    private static long ttl(long ttlMs) {
        return ttlMs == SymmetricInput.FOREVER ? 0 : ttlMs;
    }

    @Override
    public List<RowData> accept(int input, RowData row) throws Exception {
        harness.getOutput().clear();
        RowData binary = rows.toBinaryRow(row).copy();
        if (input == 0) {
            harness.processElement1(new StreamRecord<>(binary));
        } else {
            harness.processElement2(new StreamRecord<>(binary));
        }
        return new ArrayList<>(harness.extractOutputValues());
    }

    void setProcessingTime(long timeMs) throws Exception {
        harness.setProcessingTime(timeMs);
        harness.setStateTtlProcessingTime(timeMs);
    }

    @Override
    public void close() throws Exception {
        harness.close();
    }

    private static final class Condition extends GeneratedJoinCondition {

        private static final long serialVersionUID = 1L;

        private final RowPairCondition.Factory factory;

        Condition(RowPairCondition.Factory factory) {
            super("Condition", "", new Object[0]);
            this.factory = factory;
        }

        @Override
        public JoinCondition newInstance(ClassLoader classes) {
            return new Evaluated(factory);
        }
    }

    private static final class Evaluated extends AbstractRichFunction implements JoinCondition {

        private static final long serialVersionUID = 1L;

        private final RowPairCondition.Factory factory;

        Evaluated(RowPairCondition.Factory factory) {
            this.factory = factory;
        }

        @Override
        public boolean apply(RowData left, RowData right) {
            try {
                return factory == null || factory.open(null).matches(left, right);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
