// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.avro;

import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.formats.FileColumns;
import io.github.gpujoin.formats.FileSchemaException;
import java.util.List;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.flink.core.fs.Path;

/**
 * What a field of an Avro record is in chunks.
 *
 * @param type of the column
 * @param isNullable whether the field is a union with null
 */
record AvroColumn(ColumnType type, boolean isNullable) {

    private static final int MAX_LONG_DIGITS = 18;

    /**
     * Finds the type of a field in chunks.
     *
     * @throws IllegalArgumentException if there is none
     */
    static AvroColumn of(Schema.Field field) {
        if (field.schema().getType() != Schema.Type.UNION) {
            return plain(field, field.schema(), false);
        }
        List<Schema> branches = field.schema().getTypes();
        if (branches.size() == 1) {
            return plain(field, branches.get(0), false);
        }
        int nullBranch = branches.get(0).getType() == Schema.Type.NULL ? 0 : 1;
        if (branches.size() != 2 || branches.get(nullBranch).getType() != Schema.Type.NULL) {
            throw refused(field, "a union of several types");
        }
        return plain(field, branches.get(1 - nullBranch), true);
    }

    private static AvroColumn plain(Schema.Field field, Schema value, boolean isNullable) {
        boolean isDecimal =
                value.getLogicalType() instanceof LogicalTypes.Decimal decimal
                        && decimal.getPrecision() <= MAX_LONG_DIGITS;
        ColumnType type =
                switch (value.getType()) {
                    case BOOLEAN -> ColumnType.INT8;
                    case INT -> ColumnType.INT32;
                    case LONG -> ColumnType.INT64;
                    case FLOAT -> ColumnType.FLOAT32;
                    case DOUBLE -> ColumnType.FLOAT64;
                    case STRING, ENUM -> ColumnType.STRING;
                    case BYTES, FIXED -> isDecimal ? ColumnType.INT64 : ColumnType.BYTES;
                    case ARRAY, MAP, RECORD -> throw refused(field, "nested");
                    case NULL, UNION -> throw refused(field, "of no type but null");
                };
        return new AvroColumn(type, isNullable);
    }

    /** Returns a field of the records of a file by name. */
    static Schema.Field require(Schema record, String name, Path file) throws FileSchemaException {
        Schema.Field field = record.getField(name);
        if (field == null) {
            List<String> columns = record.getFields().stream().map(Schema.Field::name).toList();
            throw FileColumns.absent("Column is not in the Avro file", name, columns, file);
        }
        return field;
    }

    /** Returns the column of a chunk for all values, nulls included. */
    Column column(String name) {
        return new Column(name, type, isNullable);
    }

    private static IllegalArgumentException refused(Schema.Field field, String why) {
        return new IllegalArgumentException(
                "Column of an Avro file is "
                        + why
                        + ". Leave it out, or convert it: column="
                        + field.name()
                        + ", type="
                        + field.schema());
    }
}
