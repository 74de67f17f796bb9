// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Filters bad rows out of the stream and removes the problem column of the others. Bad rows are
 * counted by the metric {@code badRecords} and an accumulator, and their problems go to a side
 * output.
 */
final class BadRows extends ProcessFunction<RowData, RowData> {

    /** Side output: one line of text per bad row that describes the problem. */
    static final OutputTag<String> PROBLEMS = new OutputTag<>("bad-rows", Types.STRING);

    /** Name of the accumulator of the bad rows of all files. */
    static final String COUNT = "bad-rows";

    private static final long serialVersionUID = 1L;

    private final int columns;
    private final LongCounter count = new LongCounter();
    private transient Counter badRecords;

    /**
     * @param columns columns before the problem column, all text
     */
    BadRows(int columns) {
        this.columns = columns;
    }

    @Override
    public void open(OpenContext context) {
        getRuntimeContext().addAccumulator(COUNT, count);
        badRecords = getRuntimeContext().getMetricGroup().counter("badRecords");
    }

    @Override
    public void processElement(RowData marked, Context context, Collector<RowData> out) {
        if (!marked.isNullAt(columns)) {
            count.add(1);
            badRecords.inc();
            context.output(PROBLEMS, marked.getString(columns).toString());
            return;
        }
        GenericRowData row = new GenericRowData(columns);
        for (int i = 0; i < columns; i++) {
            row.setField(i, marked.isNullAt(i) ? null : marked.getString(i));
        }
        out.collect(row);
    }
}
