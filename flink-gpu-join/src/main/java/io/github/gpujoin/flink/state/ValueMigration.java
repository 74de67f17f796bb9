// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.record.AvroFields;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordKind;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.RecordShape;
import io.github.gpujoin.flink.state.JoinColumns.Named;
import io.github.gpujoin.flink.state.SavedColumns.SavedColumn;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Converts values of a column of a snapshot to values of the job's column of the same name, as
 * Flink resolves serializers: unchanged, or read by the old serializer and written by the new one.
 * Fields of Rows and RowData, which serializers address by position, are resolved by name.
 */
@FunctionalInterface
interface ValueMigration {

    /** Keeps values unchanged. */
    ValueMigration AS_IS = value -> value;

    byte[] migrate(byte[] value) throws IOException;

    /**
     * @param saved column of the snapshot
     * @param now column of the job, of the same name
     * @param side for messages
     * @throws IllegalStateException with the side, the column and both types, if the job cannot
     *     read the snapshot's values
     */
    static ValueMigration of(SavedColumn saved, RecordField now, String side, ClassLoader classes) {
        if (saved.kind() != now.kind() || saved.nullable() && !now.nullable()) {
            throw refused(saved, now, side, "");
        }
        if (now.kind() != FieldKind.SERIALIZED) {
            ColumnType type = now.kind().columnType();
            return saved.columnType() == type ? AS_IS : narrowing(type.widthBytes());
        }
        try {
            return ofSerialized(saved, now, side, classes);
        } catch (IOException e) {
            IllegalStateException refused =
                    refused(saved, now, side, " Its serializer cannot be read: " + e.getMessage());
            refused.initCause(e);
            throw refused;
        }
    }

    /**
     * Earlier snapshots store bytes and shorts in 4 bytes, of which the first ones are the value.
     */
    private static ValueMigration narrowing(int widthBytes) {
        return value -> Arrays.copyOf(value, widthBytes);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static ValueMigration ofSerialized(
            SavedColumn saved, RecordField now, String side, ClassLoader classes)
            throws IOException {
        TypeSerializer serializer = now.serializer();
        TypeSerializerSnapshot written = read(saved.serializer(), classes);
        RecordKind kind = RecordKind.of(now.type());
        boolean byName = RecordShape.isNamedRow(now.type()) && kind == saved.recordKind();
        if (byName) {
            int[] positions = positions(saved, now, side);
            if (positions.length != saved.named().size()
                    || !Arrays.equals(positions, IntStream.range(0, positions.length).toArray())) {
                RecordShape shape = RecordShape.of(now.type());
                return new Rewrite(
                        written.restoreSerializer(),
                        serializer,
                        record -> shape.reordered(record, positions));
            }
        }
        if (!byName) {
            requireNoNullInPrimitive(saved, now, side);
        }
        TypeSerializerSchemaCompatibility compatible =
                serializer.snapshotConfiguration().resolveSchemaCompatibility(written);
        boolean renamed =
                compatible.isCompatibleAsIs()
                        && !byName
                        && kind != RecordKind.AVRO
                        && !saved.type().equals(now.type().toString());
        if (compatible.isIncompatible() || renamed) {
            throw refused(saved, now, side, "");
        }
        return compatible.isCompatibleAsIs()
                ? AS_IS
                : new Rewrite(written.restoreSerializer(), serializer, change(kind, now));
    }

    /** Flink and Avro read damaged bytes without a check, and throw what they meet. */
    private static TypeSerializerSnapshot<?> read(byte[] bytes, ClassLoader classes)
            throws IOException {
        try {
            return TypeSerializerSnapshot.readVersionedSnapshot(
                    new DataInputDeserializer(bytes), classes);
        } catch (RuntimeException e) {
            throw new IOException(e.toString(), e);
        }
    }

    /** Flink's serializer of generic Avro records writes fields by position. */
    private static RecordChange change(RecordKind kind, RecordField now) {
        return kind == RecordKind.AVRO
                ? AvroFields.resolver(now.type())::convert
                : record -> record;
    }

    /** Flink's serializer writes a boxed number as it does a primitive one, unless it is null. */
    private static void requireNoNullInPrimitive(SavedColumn saved, RecordField now, String side) {
        for (Named field : JoinColumns.named(now.type())) {
            for (Named was : saved.named()) {
                if (was.name().equals(field.name())
                        && JoinColumns.isPrimitive(field.type())
                        && !JoinColumns.isPrimitive(was.type())) {
                    String types = "' was " + was.type() + " and is " + field.type();
                    throw refused(saved, now, side, " Field '" + field.name() + types);
                }
            }
        }
    }

    /** Position of each field of the job's records in the records of the snapshot. */
    private static int[] positions(SavedColumn saved, RecordField now, String side) {
        List<String> names = saved.named().stream().map(Named::name).toList();
        List<Named> fields = JoinColumns.named(now.type());
        int[] positions = new int[fields.size()];
        for (int i = 0; i < positions.length; i++) {
            Named field = fields.get(i);
            positions[i] = names.indexOf(field.name());
            if (positions[i] < 0) {
                throw refused(
                        saved,
                        now,
                        side,
                        " The snapshot has no field '" + field.name() + "' of " + field.type());
            }
            Named was = saved.named().get(positions[i]);
            // A type that is nullable now also reads values of one that was not.
            if (!was.type().equals(field.type())
                    && !was.type().equals(field.type() + " NOT NULL")) {
                String types = "' was " + was.type() + " and is " + field.type();
                throw refused(saved, now, side, " Field '" + field.name() + types);
            }
        }
        return positions;
    }

    private static IllegalStateException refused(
            SavedColumn saved, RecordField now, String side, String detail) {
        return new IllegalStateException(
                String.format(
                        "%s of %s cannot be restored: the type was %s and is %s.%s\nKeep the type, or"
                                + " start without the snapshot.",
                        now.name().equals(RecordLayout.RECORD)
                                ? "Records"
                                : "Column '" + now.name() + "'",
                        side,
                        saved.type() + (saved.nullable() ? "" : " NOT NULL"),
                        now.type() + (now.nullable() ? "" : " NOT NULL"),
                        detail.isEmpty() ? "" : detail + "."));
    }

    /** Changes a record that the old serializer has read. */
    @FunctionalInterface
    interface RecordChange {
        Object apply(Object record);
    }

    /** Reads with the old serializer and writes with the new one. */
    record Rewrite(TypeSerializer<Object> from, TypeSerializer<Object> to, RecordChange change)
            implements ValueMigration {

        @Override
        public byte[] migrate(byte[] value) throws IOException {
            Object record = from.deserialize(new DataInputDeserializer(value));
            DataOutputSerializer out = new DataOutputSerializer(value.length + 16);
            to.serialize(change.apply(record), out);
            return out.getCopyOfBuffer();
        }
    }
}
