// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordShape;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.RowTypeInfo;

/** The fields of a join's result, in order, and where they come from. Immutable. */
public final class ResultColumns implements Serializable {

    private static final long serialVersionUID = 1L;

    private final JoinSpec spec;
    private final List<OutputField> fields;
    private final ChunkSchema schema;

    private ResultColumns(JoinSpec spec, List<OutputField> fields) {
        this.spec = spec;
        this.fields = List.copyOf(fields);
        this.schema = ChunkSchema.of(fields.stream().map(this::column).toList());
    }

    /**
     * @throws IllegalArgumentException where the join's results do not hold a field, or two have
     *     one name
     */
    public static ResultColumns of(JoinSpec spec, List<OutputField> fields) {
        return new ResultColumns(spec, fields);
    }

    private Column column(OutputField output) {
        RecordField field = output.field();
        return new Column(output.name(), field.kind().columnType(), isNullable(output));
    }

    /** Whether a result may have a null there. */
    boolean isNullable(OutputField field) {
        return field.field().nullable() || ColumnSource.of(spec, field).mayBeAbsent();
    }

    public JoinSpec spec() {
        return spec;
    }

    public List<OutputField> fields() {
        return fields;
    }

    /**
     * @throws IllegalArgumentException where a column has no field of its name and type in records
     *     of the type
     */
    static void requireFields(TypeInformation<?> type, List<OutputField> columns) {
        RecordShape<?> shape = RecordShape.of(type);
        for (OutputField column : columns) {
            if (!shape.names().contains(column.name())) {
                throw new IllegalArgumentException(
                        "The result class lacks a field for a column: column=%s, fields=%s, class=%s.\nAdd the field, or select the column AS the name of a field."
                                .formatted(
                                        column.name(),
                                        shape.names(),
                                        type.getTypeClass().getName()));
            }
            if (!shape.typeOf(column.name()).equals(column.type())) {
                throw new IllegalArgumentException(
                        "A result column and its field differ in type: column=%s, columnType=%s, fieldType=%s, class=%s.\nDeclare the field with the type of the column."
                                .formatted(
                                        column.name(),
                                        column.type(),
                                        shape.typeOf(column.name()),
                                        type.getTypeClass().getName()));
            }
        }
    }

    /** Schema of result chunks. */
    public ChunkSchema schema() {
        return schema;
    }

    /** Type of result Rows. */
    public RowTypeInfo rowType() {
        return new RowTypeInfo(
                fields.stream().map(OutputField::type).toArray(TypeInformation<?>[]::new),
                fields.stream().map(OutputField::name).toArray(String[]::new));
    }
}
