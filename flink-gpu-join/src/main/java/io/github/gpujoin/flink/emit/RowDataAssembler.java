// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.flink.record.RowDataFields;
import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.table.types.logical.RowType;

/**
 * Makes Flink's binary rows; fields that are no column of the result are null. What a field's type
 * cannot hold as it is fails the job, instead of being rounded, cut or made null.
 *
 * <p>Operators behind the join copy a binary row as bytes, and read its fields without an object.
 */
final class RowDataAssembler<T> implements RecordAssembler<T> {

    private final RowDataField[] fields;
    private final List<FieldReader> loading;

    /** Positions of the fields that are no column of the result. */
    private final int[] empty;

    private final BinaryRowBuilder builder;

    RowDataAssembler(ResultColumns columns, TypeInformation<T> type) {
        RowType rowType = RowDataFields.rowType(type);
        this.fields =
                columns.fields().stream()
                        .map(column -> field(columns, column, rowType))
                        .sorted(Comparator.comparingInt(RowDataField::position))
                        .toArray(RowDataField[]::new);
        this.loading =
                FieldReader.loading(
                        Arrays.stream(fields)
                                .map(RowDataField::reader)
                                .toArray(FieldReader[]::new));
        this.empty =
                IntStream.range(0, rowType.getFieldCount())
                        .filter(i -> Arrays.stream(fields).noneMatch(f -> f.position() == i))
                        .toArray();
        this.builder = new BinaryRowBuilder(rowType.getFieldCount());
    }

    private static RowDataField field(ResultColumns columns, OutputField column, RowType rowType) {
        int position = rowType.getFieldIndex(column.name());
        FieldReader reader = new FieldReader(columns.spec(), column);
        return new RowDataField(rowType.getFields().get(position), position, reader);
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
        for (RowDataField field : fields) {
            field.bind(batch);
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
        builder.begin();
        for (int position : empty) {
            builder.putNull(position);
        }
        for (RowDataField field : fields) {
            field.write(row, probeRow, builder);
        }
        return (T) builder.build();
    }
}
