// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import org.apache.avro.Schema;
import org.apache.avro.generic.IndexedRecord;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.jspecify.annotations.Nullable;

/** Generic and specific Avro records. */
final class AvroShape<T> extends RecordShape<T> {

    private final Schema schema;

    AvroShape(TypeInformation<T> type) {
        this(type, AvroFields.schemaOf(type));
    }

    private AvroShape(TypeInformation<T> type, Schema schema) {
        super(type, schema.getFields().stream().map(Schema.Field::name).toList());
        this.schema = schema;
    }

    @Override
    TypeInformation<?> typeAt(int index, String name) {
        return AvroFields.typeOf(schema.getFields().get(index));
    }

    @Override
    @Nullable Getter<T> getterAt(int index, String name) {
        AvroFields.Converter converter = AvroFields.reader(schema.getFields().get(index));
        return record -> {
            Object value = ((IndexedRecord) record).get(index);
            return value == null ? null : converter.convert(value);
        };
    }
}
