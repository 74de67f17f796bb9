// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.flink.record.RowDataFields;
import io.github.gpujoin.flink.record.TimeResolution;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.types.logical.RowType;

/**
 * Makes Flink's internal rows; fields that are no column of the result are null. What a field's
 * type cannot hold as it is fails the job, instead of being rounded, cut or made null.
 */
final class RowDataAssembler<T> implements RecordAssembler<T> {

    /** A field and the column it comes from. */
    private record Filled(
            RowType.RowField field,
            int position,
            FieldReader reader,
            DataStructureConverter<Object, Object> converter,
            TimeResolution resolution) {}

    private final List<Filled> filled = new ArrayList<>();
    private final List<FieldReader> loading;
    private final int arity;

    RowDataAssembler(ResultColumns columns, TypeInformation<T> type) {
        RowType rowType = RowDataFields.rowType(type);
        this.arity = rowType.getFieldCount();
        for (OutputField column : columns.fields()) {
            int position = rowType.getFieldIndex(column.name());
            RowType.RowField field = rowType.getFields().get(position);
            filled.add(
                    new Filled(
                            field,
                            position,
                            new FieldReader(columns.spec(), column),
                            RowDataFields.converter(field.getType()),
                            RowDataFields.resolution(field.getType())));
        }
        this.loading =
                FieldReader.loading(
                        filled.stream().map(Filled::reader).toArray(FieldReader[]::new));
    }

    /**
     * @throws IllegalArgumentException where a field that is not nullable has no column, or one
     *     that facts without a match have no value for
     */
    static void check(ResultColumns columns, TypeInformation<?> type) {
        for (RowType.RowField field : RowDataFields.rowType(type).getFields()) {
            if (field.getType().isNullable()) {
                continue;
            }
            Optional<OutputField> column =
                    columns.fields().stream()
                            .filter(c -> c.name().equals(field.getName()))
                            .findFirst();
            if (column.isEmpty() || ColumnSource.of(columns.spec(), column.get()).mayBeAbsent()) {
                throw new IllegalArgumentException(
                        "A NOT NULL field of RowData has %s: field=%s, type=%s, columns=%s.\nMake the field nullable%s."
                                .formatted(
                                        column.isEmpty()
                                                ? "no result column"
                                                : "a column that is null in facts without a match",
                                        field.getName(),
                                        field.getType(),
                                        columns.fields().stream().map(OutputField::name).toList(),
                                        column.isEmpty()
                                                ? ", or select a column AS its name"
                                                : ", or use an inner join"));
            }
        }
    }

    @Override
    public void bind(ResultBatch batch) {
        for (Filled each : filled) {
            each.reader.bind(batch);
        }
    }

    @Override
    public void load(int fromRow, int toRow) {
        for (FieldReader reader : loading) {
            reader.load(fromRow, toRow);
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public T assemble(int row, int probeRow) throws IOException {
        GenericRowData result = new GenericRowData(arity);
        for (Filled each : filled) {
            result.setField(each.position, internal(each, each.reader.value(row, probeRow)));
        }
        return (T) result;
    }

    private static Object internal(Filled target, Object value) {
        Object internal = target.converter.toInternalOrNull(value);
        boolean held =
                value == null
                        ? target.field.getType().isNullable()
                        : target.resolution.holds(value) && isSameNumber(value, internal);
        if (!held) {
            throw new IllegalArgumentException(
                    "Value does not fit its field of RowData: field=%s, type=%s, value=%s.\nDeclare a %s type for the field."
                            .formatted(
                                    target.field.getName(),
                                    target.field.getType(),
                                    value,
                                    value == null ? "nullable" : "wider"));
        }
        return internal;
    }

    private static boolean isSameNumber(Object value, Object internal) {
        return !(value instanceof BigDecimal decimal)
                || internal != null
                        && ((DecimalData) internal).toBigDecimal().compareTo(decimal) == 0;
    }
}
