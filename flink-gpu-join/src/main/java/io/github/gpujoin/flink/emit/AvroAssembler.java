// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.flink.record.AvroFields;
import io.github.gpujoin.flink.record.TimeResolution;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.util.InstantiationUtil;
import org.jspecify.annotations.Nullable;

/**
 * Makes generic or specific Avro records; fields that are no column of the result have the default
 * of their schema.
 */
final class AvroAssembler<T> implements RecordAssembler<T> {

    /** A field and the column it comes from. */
    private record Filled(
            Schema.Field field,
            FieldReader reader,
            AvroFields.Converter converter,
            TimeResolution resolution,
            boolean nullable) {}

    private record Default(int position, Object value) {}

    private final TypeInformation<T> type;
    private final Schema schema;
    private final boolean specific;
    private final List<Filled> filled = new ArrayList<>();
    private final List<Default> defaults = new ArrayList<>();

    AvroAssembler(ResultColumns columns, TypeInformation<T> type) {
        this.type = type;
        this.schema = AvroFields.schemaOf(type);
        this.specific = SpecificRecordBase.class.isAssignableFrom(type.getTypeClass());
        SpecificRecordBase any = specific ? (SpecificRecordBase) newRecord() : null;
        GenericData model = specific ? any.getSpecificData() : GenericData.get();
        for (OutputField column : columns.fields()) {
            Schema.Field field = schema.getField(column.name());
            filled.add(
                    new Filled(
                            field,
                            new FieldReader(columns.spec(), column),
                            specific ? AvroFields.writer(field, any) : AvroFields.writer(field),
                            AvroFields.resolution(field),
                            field.schema().isNullable()));
        }
        for (Schema.Field field : schema.getFields()) {
            if (columns.fields().stream().noneMatch(c -> c.name().equals(field.name()))) {
                defaults.add(new Default(field.pos(), model.getDefaultValue(field)));
            }
        }
    }

    /**
     * @throws IllegalArgumentException where a field that no column fills has no default
     */
    static void check(ResultColumns columns, TypeInformation<?> type) {
        for (Schema.Field field : AvroFields.schemaOf(type).getFields()) {
            boolean isColumn =
                    columns.fields().stream().anyMatch(c -> c.name().equals(field.name()));
            if (!isColumn && !field.hasDefaultValue()) {
                throw new IllegalArgumentException(
                        "Avro field without a result column and without a default: field=%s, columns=%s.\nGive the field a default, or select a column AS its name."
                                .formatted(
                                        field.name(),
                                        columns.fields().stream().map(OutputField::name).toList()));
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
    @SuppressWarnings("unchecked")
    public T assemble(int row, int probeRow) throws Exception {
        IndexedRecord record = newRecord();
        for (Default each : defaults) {
            record.put(each.position, each.value);
        }
        for (Filled each : filled) {
            record.put(each.field.pos(), value(each, each.reader.value(row, probeRow)));
        }
        return (T) record;
    }

    private IndexedRecord newRecord() {
        return specific
                ? (IndexedRecord) InstantiationUtil.instantiate(type.getTypeClass())
                : new GenericData.Record(schema);
    }

    private static @Nullable Object value(Filled target, Object value) {
        if (value == null && !target.nullable) {
            throw new IllegalArgumentException(
                    "Null for an Avro field that is not a union with null: field=%s, schema=%s. Make it a union with null."
                            .formatted(target.field.name(), target.field.schema()));
        }
        if (value == null) {
            return null;
        }
        if (!target.resolution.holds(value)) {
            throw new IllegalArgumentException(
                    "Time is finer than the resolution of its Avro field: field=%s, value=%s, schema=%s.\nUse a logical type of finer resolution, or truncate the value before the join."
                            .formatted(target.field.name(), value, target.field.schema()));
        }
        return target.converter.convert(value);
    }
}
