// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.flink.record.RowDataFields;
import io.github.gpujoin.flink.runtime.symmetric.RowPairCondition;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.common.functions.DefaultOpenContext;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.functions.util.FunctionUtils;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/** Joins streams of internal rows. */
final class RegularRowDataStreams extends RegularStreams<RowData> {

    private final DataStream<RowData> left;
    private final DataStream<RowData> right;

    RegularRowDataStreams(DataStream<RowData> left, DataStream<RowData> right) {
        this.left = left;
        this.right = right;
        RowDataFields.rowType(left.getType());
        RowDataFields.rowType(right.getType());
    }

    @Override
    public DataStream<RowData> join(RegularJoinDescription join) {
        StreamExecutionEnvironment env = left.getExecutionEnvironment();
        if (join.selected(JoinSide.LEFT) != null) {
            throw new IllegalArgumentException(
                    "Columns of rows cannot be selected: uid=%s. Remove .select(...) and project before the join."
                            .formatted(join.uid().text()));
        }
        Transformation<RowData> joined =
                new RegularJoinPipeline(
                                env,
                                env.getConfiguration(),
                                input(JoinSide.LEFT, join),
                                input(JoinSide.RIGHT, join),
                                join.kind(),
                                Collections.nCopies(
                                        join.keys(JoinSide.LEFT).size(), !join.matchesNulls()),
                                condition(env, join.condition()),
                                join.uid(),
                                env.getParallelism())
                        .build();
        return new OperatorStream<>(env, joined);
    }

    private static RowPairCondition.@Nullable Factory condition(
            StreamExecutionEnvironment env,
            @Nullable JoinFunction<RowData, RowData, Boolean> function) {
        if (function == null) {
            return null;
        }
        JoinFunction<RowData, RowData, Boolean> cleaned = env.clean(function);
        return context -> {
            FunctionUtils.setFunctionRuntimeContext(cleaned, context);
            FunctionUtils.openFunction(cleaned, DefaultOpenContext.INSTANCE);
            return new RowPairCondition() {
                @Override
                public boolean matches(RowData leftRow, RowData rightRow) throws Exception {
                    return cleaned.join(leftRow, rightRow);
                }

                @Override
                public void close() throws Exception {
                    FunctionUtils.closeFunction(cleaned);
                }
            };
        };
    }

    private RegularJoinInput input(JoinSide side, RegularJoinDescription join) {
        DataStream<RowData> stream = side == JoinSide.LEFT ? left : right;
        RowType type = RowDataFields.rowType(stream.getType());
        String name = side == JoinSide.LEFT ? "left" : "right";
        return new RegularJoinInput(
                name,
                stream.getTransformation(),
                type,
                indexes(name, type, join.keys(side)),
                join.identity(side),
                indexes(name, type, join.uniqueColumns(side)),
                join.ttlMs(side));
    }

    private static List<Integer> indexes(String side, RowType type, List<String> columns) {
        return columns.stream()
                .map(
                        column -> {
                            int index = type.getFieldIndex(column);
                            if (index < 0) {
                                throw new IllegalArgumentException(
                                        "The %s input has no column '%s'. Its columns are %s."
                                                .formatted(side, column, type.getFieldNames()));
                            }
                            return index;
                        })
                .toList();
    }
}
