// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.flink.plan.RegularJoinInput;
import io.github.gpujoin.flink.plan.UncopiedType;
import io.github.gpujoin.flink.record.ColumnsKey;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecEdge;
import org.apache.flink.table.runtime.operators.sink.StreamRecordTimestampInserter;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/**
 * An input of a join. Its columns are numbered, because names in SQL may be equal on both sides and
 * may contain what the join's description does not permit.
 */
final class JoinSide {

    private final Transformation<RowData> rows;
    private final RowType type;
    private final String prefix;

    /**
     * @param prefix of the names of the columns
     */
    @SuppressWarnings("unchecked")
    static JoinSide of(ExecEdge input, String prefix, PlannerBase planner) {
        return new JoinSide(
                (Transformation<RowData>) input.translateToPlan(planner),
                (RowType) input.getOutputType(),
                prefix);
    }

    private JoinSide(Transformation<RowData> rows, RowType type, String prefix) {
        this.rows = rows;
        this.type = type;
        this.prefix = prefix;
    }

    String column(int index) {
        return prefix + index;
    }

    /** Returns the columns that the join passes: all but those of processing time. */
    String[] columns() {
        return IntStream.range(0, type.getFieldCount())
                .filter(i -> !LogicalTypeChecks.isProctimeAttribute(type.getTypeAt(i)))
                .mapToObj(this::column)
                .toArray(String[]::new);
    }

    private List<String> names() {
        return IntStream.range(0, type.getFieldCount()).mapToObj(this::column).toList();
    }

    RowType type() {
        return type;
    }

    /**
     * @param columns indexes of the columns of a key
     */
    ColumnsKey<RowData> key(List<Integer> columns) {
        return new ColumnsKey<>(
                InternalTypeInfo.of(numberedType()), columns.stream().map(this::column).toList());
    }

    DataStream<RowData> rows(JoinEnvironment env) {
        return UncopiedType.stream(env.stream(rows), InternalTypeInfo.of(numberedType()));
    }

    /** Returns the rows as an input of a symmetric join. */
    RegularJoinInput regularInput(String name, List<Integer> keys, RegularJoinSpec.Input input) {
        return new RegularJoinInput(
                name,
                rows,
                numberedType(),
                keys,
                input.identity(),
                input.identityColumns(),
                input.timeToLiveMs() == 0 ? SymmetricInput.FOREVER : input.timeToLiveMs());
    }

    RowType numberedType() {
        return row(type, names());
    }

    /** Returns the rows, each with its rowtime as the timestamp of its record. */
    DataStream<RowData> rowsWithTimestamps(JoinEnvironment env, int rowtime) {
        return env.stream(rows)
                .transform(
                        "rowtime",
                        InternalTypeInfo.of(numberedType()),
                        new StreamRecordTimestampInserter(
                                rowtime, LogicalTypeChecks.getPrecision(type.getTypeAt(rowtime))))
                .setParallelism(rows.getParallelism());
    }

    /** Returns the type of results with the columns of this side and of another one. */
    InternalTypeInfo<RowData> joined(JoinSide right, RowType output) {
        List<String> names = new ArrayList<>(names());
        names.addAll(right.names());
        return InternalTypeInfo.of(row(output, names));
    }

    /** Processing time is declared NOT NULL, but is null until the planner reads the clock. */
    private static RowType row(RowType type, List<String> names) {
        LogicalType[] types =
                type.getChildren().stream()
                        .map(t -> LogicalTypeChecks.isProctimeAttribute(t) ? t.copy(true) : t)
                        .toArray(LogicalType[]::new);
        return RowType.of(types, names.toArray(String[]::new));
    }
}
