// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.flink.record.RowDataFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.CompositeType;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.runtime.typeutils.ExternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.DataTypeQueryable;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.utils.TypeConversions;
import org.apache.flink.types.Row;

/** Joins streams of external rows: converts them to internal ones, and the results back. */
final class RegularRowStreams extends RegularStreams<Row> {

    private static final Map<TypeInformation<?>, DataType> COLUMN_TYPES =
            Map.ofEntries(
                    Map.entry(Types.BOOLEAN, DataTypes.BOOLEAN()),
                    Map.entry(Types.BYTE, DataTypes.TINYINT()),
                    Map.entry(Types.SHORT, DataTypes.SMALLINT()),
                    Map.entry(Types.INT, DataTypes.INT()),
                    Map.entry(Types.LONG, DataTypes.BIGINT()),
                    Map.entry(Types.FLOAT, DataTypes.FLOAT()),
                    Map.entry(Types.DOUBLE, DataTypes.DOUBLE()),
                    Map.entry(Types.STRING, DataTypes.STRING()),
                    Map.entry(Types.PRIMITIVE_ARRAY(Types.BYTE), DataTypes.BYTES()),
                    Map.entry(Types.BIG_DEC, DataTypes.DECIMAL(38, 18)),
                    Map.entry(Types.LOCAL_DATE, DataTypes.DATE()),
                    Map.entry(Types.LOCAL_TIME, DataTypes.TIME(3)),
                    Map.entry(Types.LOCAL_DATE_TIME, DataTypes.TIMESTAMP(9)),
                    Map.entry(Types.INSTANT, DataTypes.TIMESTAMP_LTZ(9)));

    private final DataStream<Row> left;
    private final DataStream<Row> right;
    private final DataType leftType;
    private final DataType rightType;

    RegularRowStreams(DataStream<Row> left, DataStream<Row> right) {
        this.left = left;
        this.right = right;
        this.leftType = dataType(left.getType());
        this.rightType = dataType(right.getType());
    }

    private static DataType dataType(TypeInformation<Row> type) {
        if (type instanceof DataTypeQueryable queryable) {
            return queryable.getDataType().notNull();
        }
        if (!(type instanceof CompositeType<Row> columns)) {
            throw new IllegalArgumentException(
                    "A stream of Rows lacks its columns: type=%s. Declare them with .returns(Types.ROW_NAMED(...))."
                            .formatted(type));
        }
        List<DataTypes.Field> fields = new ArrayList<>();
        for (String name : columns.getFieldNames()) {
            TypeInformation<?> column = columns.getTypeAt(name);
            DataType columnType = COLUMN_TYPES.get(column);
            if (columnType == null) {
                throw new IllegalArgumentException(
                        "Unsupported type of a column: column=%s, type=%s. Declare the stream with .returns(ExternalTypeInfo.of(dataType))."
                                .formatted(name, column));
            }
            fields.add(DataTypes.FIELD(name, columnType));
        }
        return DataTypes.ROW(fields).notNull();
    }

    @Override
    public DataStream<Row> join(RegularJoinDescription join) {
        DataStream<RowData> results =
                RegularStreams.ofRowData(internal(left, leftType), internal(right, rightType))
                        .join(join);
        RowType type = RowDataFields.rowType(results.getType());
        DataType external = TypeConversions.fromLogicalToDataType(type);
        return UncopiedType.stream(results)
                .map(new ExternalRows(external))
                .returns(ExternalTypeInfo.of(external))
                .name("to rows");
    }

    private static DataStream<RowData> internal(DataStream<Row> rows, DataType type) {
        // The same parallelism keeps the edge forward, and so the order of changes of a row.
        return rows.map(new InternalRows(type))
                .returns(InternalTypeInfo.of((RowType) type.getLogicalType()))
                .setParallelism(rows.getParallelism());
    }

    /** Converts internal rows to Rows of the same kind of change. */
    private static final class ExternalRows extends RichMapFunction<RowData, Row> {

        private static final long serialVersionUID = 1L;

        private final DataType type;
        private transient DataStructureConverter<Object, Object> converter;

        ExternalRows(DataType type) {
            this.type = type;
        }

        @Override
        public void open(OpenContext context) {
            converter = DataStructureConverters.getConverter(type);
            converter.open(getRuntimeContext().getUserCodeClassLoader());
        }

        @Override
        public Row map(RowData row) {
            return (Row) converter.toExternal(row);
        }
    }
}
