// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.Column;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * A field of a record and the column it travels in.
 *
 * @param nullable whether the column holds nulls; never for keys, whose null rows are dropped
 * @param type of the field in Flink
 * @param serializer of {@link FieldKind#SERIALIZED} fields, else null
 */
public record RecordField(
        String name,
        FieldKind kind,
        boolean nullable,
        TypeInformation<?> type,
        TypeSerializer<?> serializer)
        implements Serializable {

    private static final long MASK = (1L << Integer.SIZE) - 1;

    /** A field of a record; a field whose values are objects is nullable. */
    static RecordField of(
            String name, TypeInformation<?> type, boolean primitive, SerializerConfig config) {
        FieldKind kind = FieldKind.of(type);
        TypeSerializer<?> serializer =
                kind == FieldKind.SERIALIZED ? type.createSerializer(config) : null;
        return new RecordField(name, kind, !primitive, type, serializer);
    }

    /** A column of a columnar stream, as a field. */
    public static RecordField ofColumn(Column column) {
        FieldKind kind = FieldKind.of(column.type());
        return new RecordField(column.name(), kind, column.nullable(), kind.type(), null);
    }

    /**
     * Stands for what a schema does not have: the types of values that Flink's serializers write.
     *
     * @return 0 if there are none, else a positive number; the same in each process
     */
    public static long typesOf(List<RecordField> fields) {
        StringBuilder types = new StringBuilder();
        for (RecordField field : fields) {
            if (field.kind == FieldKind.SERIALIZED) {
                types.append(field.name).append(' ').append(field.type).append('\n');
            }
        }
        return types.isEmpty() ? 0 : 1L << Integer.SIZE | types.toString().hashCode() & MASK;
    }

    public Column column() {
        return new Column(name, kind.columnType(), nullable);
    }

    /**
     * The same field as a join key.
     *
     * @param owner of the field, for the message
     */
    RecordField asKey(Object owner) {
        if (!kind.isKey()) {
            throw new IllegalArgumentException(
                    "Unsupported type of a join key: field=%s, type=%s, record=%s.\nUse an int, long, short or byte field, or a key selector with a composite key."
                            .formatted(name, type, owner));
        }
        return new RecordField(name, kind, false, type, null);
    }
}
