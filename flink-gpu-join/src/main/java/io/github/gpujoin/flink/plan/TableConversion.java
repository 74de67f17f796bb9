// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.SimpleOperatorFactory;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.operators.sink.OutputConversionOperator;

/**
 * The operator at the end of the planner's part of a job that turns a table into a stream. If the
 * stream is one of internal rows, it passes them on as they are, after it has read their time. So
 * Flink's copy of each row for this operator has no use.
 */
final class TableConversion {

    private TableConversion() {}

    /**
     * Replaces the operator by one that receives no copies.
     *
     * @param rows internal rows that a table was converted to
     * @return the same stream if the planner has converted it otherwise
     */
    static DataStream<RowData> uncopied(DataStream<RowData> rows) {
        StreamExecutionEnvironment env = rows.getExecutionEnvironment();
        List<Transformation<?>> operators = env.getTransformations();
        int index = operators.indexOf(rows.getTransformation());
        if (index < 0
                || !(rows.getTransformation()
                        instanceof OneInputTransformation<?, RowData> conversion)
                || !isConversion(conversion)) {
            return rows;
        }
        Transformation<RowData> replacement = withUncopiedInput(env, conversion);
        operators.set(index, replacement);
        return new OperatorStream<>(env, replacement);
    }

    private static boolean isConversion(OneInputTransformation<?, ?> operator) {
        return operator.getOperatorFactory() instanceof SimpleOperatorFactory<?> factory
                && factory.getOperator() instanceof OutputConversionOperator;
    }

    private static <T> Transformation<RowData> withUncopiedInput(
            StreamExecutionEnvironment env, OneInputTransformation<T, RowData> conversion) {
        @SuppressWarnings("unchecked")
        Transformation<T> input = (Transformation<T>) conversion.getInputs().get(0);
        DataStream<T> uncopied = UncopiedType.stream(new OperatorStream<>(env, input));
        OneInputTransformation<T, RowData> replacement =
                new OneInputTransformation<>(
                        uncopied.getTransformation(),
                        conversion.getName(),
                        conversion.getOperatorFactory(),
                        conversion.getOutputType(),
                        conversion.getParallelism(),
                        conversion.isParallelismConfigured());
        replacement.setDescription(conversion.getDescription());
        if (conversion.getMaxParallelism() > 0) {
            replacement.setMaxParallelism(conversion.getMaxParallelism());
        }
        replacement.setUid(conversion.getUid());
        conversion.getSlotSharingGroup().ifPresent(replacement::setSlotSharingGroup);
        return replacement;
    }
}
