// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.operators.join.temporal.TemporalProcessTimeJoinOperator;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.types.RowKind;

/**
 * Flink's own processing-time temporal join of facts (key, number) and prices (id, value), as its
 * planner runs it, in one subtask: what comes in a fixed order has one answer.
 */
final class ProcessTimeTemporalJoin implements AutoCloseable {

    private final KeyedTwoInputStreamOperatorTestHarness<Long, RowData, RowData, RowData> harness;

    /**
     * @param left whether facts without a price stay
     */
    ProcessTimeTemporalJoin(boolean left) throws Exception {
        InternalTypeInfo<RowData> price =
                InternalTypeInfo.ofFields(new BigIntType(), new BigIntType());
        harness =
                new KeyedTwoInputStreamOperatorTestHarness<>(
                        new TemporalProcessTimeJoinOperator(
                                price, new NoFurtherCondition.Generated(), 0, 0, left),
                        fact -> fact.getLong(0),
                        row -> row.getLong(0),
                        Types.LONG);
        harness.open();
    }

    void change(RowKind kind, long id, long value) throws Exception {
        harness.processElement2(new StreamRecord<>(GenericRowData.ofKind(kind, id, value)));
    }

    void fact(long key, long number) throws Exception {
        harness.processElement1(new StreamRecord<>(GenericRowData.of(key, number)));
    }

    /** The results of all facts so far: number and price, 0 where there is none. */
    List<String> results() {
        List<String> results = new ArrayList<>();
        for (RowData row : harness.extractOutputValues()) {
            long price = row.isNullAt(3) ? 0 : row.getLong(3);
            results.add(row.getLong(1) + "|" + price);
        }
        return results;
    }

    @Override
    public void close() throws Exception {
        harness.close();
    }
}
