// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.operators.join.temporal.TemporalRowTimeJoinOperator;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.types.RowKind;

/**
 * Flink's own event-time temporal join of facts (key, number, time) and prices (id, value, time),
 * as its planner runs it, in one subtask: what comes in a fixed order has one answer.
 */
final class EventTimeTemporalJoin implements AutoCloseable {

    private final boolean left;
    private final List<String> results = new ArrayList<>();
    private KeyedTwoInputStreamOperatorTestHarness<Long, RowData, RowData, RowData> harness;

    /**
     * @param left whether facts without a price stay
     */
    EventTimeTemporalJoin(boolean left) throws Exception {
        this.left = left;
        this.harness = open(null);
    }

    private KeyedTwoInputStreamOperatorTestHarness<Long, RowData, RowData, RowData> open(
            OperatorSubtaskState state) throws Exception {
        InternalTypeInfo<RowData> row =
                InternalTypeInfo.ofFields(new BigIntType(), new BigIntType(), new BigIntType());
        InternalTypeInfo<RowData> joined =
                InternalTypeInfo.ofFields(
                        Collections.nCopies(6, new BigIntType()).toArray(BigIntType[]::new));
        var opened =
                new KeyedTwoInputStreamOperatorTestHarness<Long, RowData, RowData, RowData>(
                        new TemporalRowTimeJoinOperator(
                                row, row, new NoFurtherCondition.Generated(), 2, 2, 0, 0, left),
                        fact -> fact.getLong(0),
                        price -> price.getLong(0),
                        Types.LONG);
        opened.setup(joined.toSerializer());
        if (state != null) {
            opened.initializeState(state);
        }
        opened.open();
        return opened;
    }

    void version(RowKind kind, long id, long value, long time) throws Exception {
        harness.processElement2(new StreamRecord<>(GenericRowData.ofKind(kind, id, value, time)));
    }

    void fact(long key, long number, long time) throws Exception {
        harness.processElement1(new StreamRecord<>(GenericRowData.of(key, number, time)));
    }

    void watermark(long time) throws Exception {
        harness.processBothWatermarks(new Watermark(time));
    }

    void restore() throws Exception {
        OperatorSubtaskState state = harness.snapshot(1, 1);
        collect();
        harness.close();
        harness = open(state);
    }

    private void collect() {
        for (RowData row : harness.extractOutputValues()) {
            long price = row.isNullAt(4) ? 0 : row.getLong(4);
            results.add(row.getLong(1) + "|" + price);
        }
        harness.getOutput().clear();
    }

    /** The results of all facts so far: number and price, 0 where there is none. */
    List<String> results() {
        collect();
        return results;
    }

    @Override
    public void close() throws Exception {
        harness.close();
    }
}
