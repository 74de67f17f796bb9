// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.RecordKind;
import io.github.gpujoin.flink.state.JoinColumns.Named;
import java.util.ArrayList;
import java.util.List;

/** {@link JoinColumns} in a snapshot. */
record SavedColumns(List<Side> sides) {

    record Side(String name, String key, String kind, List<SavedColumn> columns) {

        ChunkSchema schema() {
            return ChunkSchema.of(columns.stream().map(SavedColumn::column).toList());
        }

        /** Index of the column, -1 without one. */
        int indexOf(String column) {
            return columns.stream().map(SavedColumn::name).toList().indexOf(column);
        }
    }

    /**
     * @param columnType of the values
     * @param type as text
     * @param named fields of Rows and RowData, in order; of other types as {@link
     *     JoinColumns#named}
     * @param serializer versioned snapshot, empty if the column is not serialized
     */
    record SavedColumn(
            String name,
            FieldKind kind,
            ColumnType columnType,
            boolean nullable,
            String type,
            RecordKind recordKind,
            List<Named> named,
            byte[] serializer) {

        Column column() {
            return new Column(name, columnType, nullable);
        }
    }

    /**
     * @throws IllegalStateException if a later release wrote the snapshot, or if it is damaged
     */
    static SavedColumns of(byte[] bytes) {
        SavedInput in = new SavedInput(JoinMetadata.COLUMNS, bytes);
        int version = in.readInt("version");
        boolean hasNarrowColumns = version == JoinColumns.VERSION;
        if (!hasNarrowColumns && version != JoinColumns.VERSION_WITHOUT_NARROW_COLUMNS) {
            throw new IllegalStateException(
                    String.format(
                            "The snapshot describes columns in version %d, this release reads %d."
                                    + " Restore it with the release that wrote it, or a later one.",
                            version, JoinColumns.VERSION));
        }
        List<Side> sides = new ArrayList<>();
        for (int side = in.readCount("number of sides"); side > 0; side--) {
            String name = in.readText("name of a side");
            String key = in.readText("key of side '" + name + "'");
            String kind = in.readText("kind of side '" + name + "'");
            List<SavedColumn> columns = new ArrayList<>();
            int count = in.readCount("number of columns of side '" + name + "'");
            for (int column = 0; column < count; column++) {
                columns.add(readColumn(in, hasNarrowColumns));
            }
            sides.add(new Side(name, key, kind, columns));
        }
        in.requireEnd();
        return new SavedColumns(sides);
    }

    private static SavedColumn readColumn(SavedInput in, boolean hasNarrowColumns) {
        String name = in.readText("name of a column");
        String column = " of column '" + name + "'";
        FieldKind kind = in.readEnum("kind" + column, FieldKind.class);
        boolean isWidened =
                !hasNarrowColumns && (kind == FieldKind.BYTE || kind == FieldKind.SHORT);
        ColumnType columnType = isWidened ? ColumnType.INT32 : kind.columnType();
        boolean nullable = in.readBoolean("nullability" + column);
        String type = in.readText("type" + column);
        RecordKind recordKind = in.readEnum("kind of record" + column, RecordKind.class);
        List<Named> named = new ArrayList<>();
        for (int field = in.readCount("number of fields" + column); field > 0; field--) {
            named.add(
                    new Named(
                            in.readText("name of a field" + column),
                            in.readText("type of a field" + column)));
        }
        byte[] serializer = in.readBytes("serializer" + column);
        return new SavedColumn(
                name, kind, columnType, nullable, type, recordKind, named, serializer);
    }
}
