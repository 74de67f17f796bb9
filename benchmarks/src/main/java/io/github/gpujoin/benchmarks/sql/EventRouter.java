// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/** Sends each event to the side output of its table. A table that no query reads has none. */
final class EventRouter extends ProcessFunction<LoggedRow, RowData> {

    private static final long serialVersionUID = 1L;

    private static final int MAX_TABLES = 8;

    private final OutputTag<RowData>[] tags;

    @SuppressWarnings({"unchecked", "rawtypes"})
    EventRouter() {
        tags = new OutputTag[MAX_TABLES];
        for (int table = 0; table < MAX_TABLES; table++) {
            tags[table] = tag(table, RowType.of());
        }
    }

    /** Returns the side output of a table. Tags are equal if their numbers are. */
    static OutputTag<RowData> tag(int table, RowType type) {
        return new OutputTag<>("table-" + table, InternalTypeInfo.of(type));
    }

    @Override
    public void processElement(LoggedRow event, Context context, Collector<RowData> out) {
        context.output(tags[event.table()], event.row());
    }
}
