// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.RecordKind;
import io.github.gpujoin.flink.state.JoinColumns.Named;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.types.StringValue;

/** {@link JoinColumns} in a snapshot. */
record SavedColumns(List<Side> sides) {

    record Side(String name, String key, String kind, List<SavedColumn> columns) {

        ChunkSchema schema() {
            return ChunkSchema.of(columns.stream().map(SavedColumn::column).toList());
        }

        /** Index of the column, -1 if there is none. */
        int indexOf(String column) {
            return columns.stream().map(SavedColumn::name).toList().indexOf(column);
        }
    }

    /**
     * @param type as text
     * @param named fields of Rows and RowData, in order; of other types as {@link
     *     JoinColumns#named}
     * @param serializer versioned snapshot, empty if the column is not serialized
     */
    record SavedColumn(
            String name,
            FieldKind kind,
            boolean nullable,
            String type,
            RecordKind recordKind,
            List<Named> named,
            byte[] serializer) {

        Column column() {
            return new Column(name, kind.columnType(), nullable);
        }
    }

    /**
     * @throws IllegalStateException if a later release wrote the snapshot
     */
    static SavedColumns of(byte[] bytes) throws IOException {
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        int version = in.readInt();
        if (version != JoinColumns.VERSION) {
            throw new IllegalStateException(
                    String.format(
                            "The snapshot describes columns in version %d, this release reads %d."
                                    + " Restore it with the release that wrote it, or a later one.",
                            version, JoinColumns.VERSION));
        }
        List<Side> sides = new ArrayList<>();
        for (int side = in.readInt(); side > 0; side--) {
            String name = StringValue.readString(in);
            String key = StringValue.readString(in);
            String kind = StringValue.readString(in);
            List<SavedColumn> columns = new ArrayList<>();
            for (int column = in.readInt(); column > 0; column--) {
                columns.add(readColumn(in));
            }
            sides.add(new Side(name, key, kind, columns));
        }
        return new SavedColumns(sides);
    }

    private static SavedColumn readColumn(DataInputDeserializer in) throws IOException {
        String name = StringValue.readString(in);
        FieldKind kind = FieldKind.valueOf(StringValue.readString(in));
        boolean nullable = in.readBoolean();
        String type = StringValue.readString(in);
        RecordKind recordKind = RecordKind.valueOf(StringValue.readString(in));
        List<Named> named = new ArrayList<>();
        for (int field = in.readInt(); field > 0; field--) {
            named.add(new Named(StringValue.readString(in), StringValue.readString(in)));
        }
        int serializerBytes = in.readInt();
        if (serializerBytes < 0 || serializerBytes > in.available()) {
            throw new IOException(
                    "The snapshot is damaged, a column's serializer is cut: column=%s, bytes=%d, available=%d.\nRestore an earlier snapshot."
                            .formatted(name, serializerBytes, in.available()));
        }
        byte[] serializer = new byte[serializerBytes];
        in.readFully(serializer);
        return new SavedColumn(name, kind, nullable, type, recordKind, named, serializer);
    }
}
