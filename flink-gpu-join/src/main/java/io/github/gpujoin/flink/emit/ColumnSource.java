// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;

/**
 * Location of a column in the results of an engine, and the reasons for which it may be absent.
 *
 * @param dimension of a location in a dimension
 * @param index of the fixed fact column, of the fixed payload column, or among the variable-width
 *     columns
 * @param type as it is stored there
 * @param unmatched dimension in which a row without a match has no value; {@value #NONE} where that
 *     does not matter
 * @param nullKeyBits as in {@link OutputField}
 */
record ColumnSource(
        Location location,
        int dimension,
        int index,
        ColumnType type,
        int unmatched,
        int nullKeyBits) {

    /** For {@link #unmatched}. */
    static final int NONE = -1;

    enum Location {
        FACT_FIXED,
        FACT_VARIABLE_WIDTH,
        PAYLOAD_FIXED,
        PAYLOAD_VARIABLE_WIDTH
    }

    /** Whether the value may be missing, besides being null in its column. */
    boolean mayBeAbsent() {
        return unmatched != NONE || nullKeyBits != 0;
    }

    /** The same for rows that have the value. */
    ColumnSource present() {
        return new ColumnSource(location, dimension, index, type, NONE, 0);
    }

    boolean isFixed() {
        return location == Location.FACT_FIXED || location == Location.PAYLOAD_FIXED;
    }

    /**
     * @throws IllegalArgumentException where results do not hold the field's column, or it is
     *     stored otherwise than the field says
     */
    static ColumnSource of(JoinSpec spec, OutputField field) {
        if (field.side() == ChunkDescriptor.FACTS) {
            return ofFact(spec, field, field.column());
        }
        if (field.side() < 0 || field.side() >= spec.dimensions().size()) {
            throw refused("A result column names an unknown side of the join", field, null);
        }
        DimensionSpec dimension = spec.dimensions().get(field.side());
        boolean isKey = field.column() == dimension.keyColumn();
        if (isKey && dimension.kind() != JoinKind.ANTI) {
            // An engine does not repeat the key, which the fact's key equals.
            return ofFact(spec, field, dimension.factKeyColumn());
        }
        if (!dimension.kind().keepsPayload()) {
            throw refused(
                    "A column of a semi-joined or anti-joined dimension was selected",
                    field,
                    dimension);
        }
        Column column = checked(field, dimension.schema(), field.column());
        if (column.isFixed()) {
            int payload = dimension.payloadColumns().indexOf(field.column());
            return new ColumnSource(
                    Location.PAYLOAD_FIXED,
                    field.side(),
                    payload,
                    column.type(),
                    unmatched(spec, field),
                    0);
        }
        int index = indexAmongVariableWidth(dimension.schema(), field.column());
        return new ColumnSource(
                Location.PAYLOAD_VARIABLE_WIDTH,
                field.side(),
                index,
                column.type(),
                unmatched(spec, field),
                0);
    }

    private static ColumnSource ofFact(JoinSpec spec, OutputField field, int index) {
        ChunkSchema facts = spec.factSchema();
        boolean key = field.side() != ChunkDescriptor.FACTS;
        Column column = key ? facts.column(index) : checked(field, facts, index);
        return new ColumnSource(
                column.isFixed() ? Location.FACT_FIXED : Location.FACT_VARIABLE_WIDTH,
                -1,
                column.isFixed() ? index : indexAmongVariableWidth(facts, index),
                column.type(),
                key ? unmatched(spec, field) : NONE,
                field.nullKeyBits());
    }

    private static int unmatched(JoinSpec spec, OutputField field) {
        return spec.dimensions().get(field.side()).kind().hasNullPayload() ? field.side() : NONE;
    }

    private static Column checked(OutputField field, ChunkSchema schema, int index) {
        if (index < 0 || index >= schema.size()) {
            throw refused("A result column names an unknown column of its side", field, schema);
        }
        Column column = schema.column(index);
        if (column.type() != field.field().kind().columnType()
                || column.nullable() != field.field().nullable()) {
            throw refused("Type of a result column differs from that of its source", field, column);
        }
        return column;
    }

    private static int indexAmongVariableWidth(ChunkSchema schema, int column) {
        int index = 0;
        for (int i = 0; i < column; i++) {
            index += schema.column(i).isFixed() ? 0 : 1;
        }
        return index;
    }

    private static IllegalArgumentException refused(
            String fault, OutputField field, Object against) {
        return new IllegalArgumentException(fault + ": field=" + field + ", of=" + against);
    }
}
