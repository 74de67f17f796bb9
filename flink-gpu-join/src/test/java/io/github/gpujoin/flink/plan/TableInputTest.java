// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Expressions;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.utils.DataTypeUtils;
import org.junit.jupiter.api.Test;

class TableInputTest {

    private final StreamExecutionEnvironment env =
            StreamExecutionEnvironment.getExecutionEnvironment();
    private final StreamTableEnvironment tables = StreamTableEnvironment.create(env);
    private final Table orders =
            tables.fromValues(
                    DataTypes.ROW(
                            DataTypes.FIELD("id", DataTypes.BIGINT().notNull()),
                            DataTypes.FIELD("name", DataTypes.STRING())),
                    Expressions.row(1L, "a"));

    @Test
    void shouldHaveTheTypeOfTheTableSinceSnapshotsDependOnIt() {
        DataStream<RowData> stream = TableInput.of(TableInput.PROBE, tables, orders).stream();

        DataStream<RowData> declared =
                tables.toDataStream(
                        orders,
                        DataTypeUtils.toInternalDataType(
                                        orders.getResolvedSchema().toSourceRowDataType())
                                .notNull());
        assertThat(stream.getType())
                .isEqualTo(declared.getType())
                .hasToString(declared.getType().toString());
    }

    @Test
    void shouldNotCheckAgainThatFieldsAreNotNull() {
        TableInput.of(TableInput.PROBE, tables, orders).stream().print();

        assertThat(env.getStreamGraph().getStreamNodes())
                .extracting(StreamNode::getOperatorName)
                .isNotEmpty()
                .noneMatch(name -> name.contains("ConstraintEnforcer"));
    }

    @Test
    void shouldPassRowsToOneConversionWithoutACopy() {
        TableInput.of(TableInput.PROBE, tables, orders).stream().print();
        RowData row = GenericRowData.of(1L, null);

        assertThat(env.getStreamGraph().getStreamNodes())
                .filteredOn(node -> node.getOperatorName().contains("TableToDataStream"))
                .singleElement()
                .extracting(node -> (RowData) copy(node.getTypeSerializersIn()[0], row))
                .isSameAs(row);
    }

    @SuppressWarnings("unchecked")
    private static Object copy(TypeSerializer<?> serializer, Object value) {
        return ((TypeSerializer<Object>) serializer).copy(value);
    }
}
