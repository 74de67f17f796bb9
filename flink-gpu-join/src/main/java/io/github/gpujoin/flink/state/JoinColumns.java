// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordKind;
import io.github.gpujoin.flink.record.RecordShape;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.CompositeType;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.types.StringValue;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a join's state with their Flink types: the facts first, then each dimension. A
 * snapshot holds them as {@link SavedColumns}. A restore compares these with the job's columns.
 *
 * <pre>
 *  int32 version | int32 sides, of each
 *    name | key | kind | int32 columns, of each
 *      name | kind of field | boolean nullable | type | kind of record
 *      int32 fields, of each: name | type           of Rows and RowData; Java types of POJO fields by path
 *      int32 length, bytes                          versioned serializer snapshot; 0 if not serialized
 * </pre>
 *
 * @param sides the facts, then the dimensions in the order of the join spec
 * @param keyCheck check of the keys in build rows; not part of a snapshot
 * @param functions user functions that decide which rows match
 * @param generations generations of the dimensions, which decide whether one is read again
 */
public record JoinColumns(
        List<Side> sides, KeyCheck keyCheck, JoinFunctions functions, Generations generations)
        implements Serializable {

    static final int VERSION = 2;

    /** Columns of bytes and shorts had 4 bytes. */
    static final int VERSION_WITHOUT_NARROW_COLUMNS = 1;

    private static final Set<String> PRIMITIVES =
            Set.of("boolean", "byte", "short", "char", "int", "long", "float", "double");

    /**
     * The columns of the facts or of a dimension.
     *
     * @param key join condition as text, {@code factColumn = dimensionColumn}; empty for facts
     * @param kind kind of the join; empty for facts
     * @param fields fields of the side, one a column
     */
    public record Side(String name, String key, String kind, List<RecordField> fields)
            implements Serializable {

        ChunkSchema schema() {
            return ChunkSchema.of(fields.stream().map(RecordField::column).toList());
        }
    }

    public JoinColumns {
        sides = List.copyOf(sides);
    }

    /**
     * Returns the columns of a join with their fields, without checks, functions and generations.
     *
     * @param facts fields of the facts, one a column
     * @param dimensions fields of each dimension, one a column
     */
    public static JoinColumns of(
            JoinSpec spec, List<RecordField> facts, List<List<RecordField>> dimensions) {
        List<Side> sides = new ArrayList<>();
        sides.add(new Side("facts", "", "", facts));
        for (int d = 0; d < spec.dimensions().size(); d++) {
            DimensionSpec side = spec.dimensions().get(d);
            String key =
                    spec.factSchema().column(side.factKeyColumn()).name()
                            + " = "
                            + side.schema().column(side.keyColumn()).name();
            sides.add(new Side(side.name(), key, side.kind().name(), dimensions.get(d)));
        }
        return new JoinColumns(sides, KeyCheck.NONE, JoinFunctions.NONE, Generations.NONE);
    }

    /**
     * Returns these columns with the condition and the kind of a dimension as the user declared
     * them. Those of the join spec may differ: it lists candidates of a condition or a hashed key.
     *
     * @param dimension number from 0
     */
    public JoinColumns withCondition(int dimension, String key, String kind) {
        List<Side> declared = new ArrayList<>(sides);
        Side side = sides.get(dimension + 1);
        declared.set(dimension + 1, new Side(side.name, key, kind, side.fields));
        return new JoinColumns(declared, keyCheck, functions, generations);
    }

    /** Returns these columns with a check of keys that functions select from whole records. */
    public JoinColumns withKeyCheck(KeyCheck check) {
        return new JoinColumns(sides, check, functions, generations);
    }

    /** Returns these columns with the functions that decide which rows match. */
    public JoinColumns withFunctions(JoinFunctions deciding) {
        return new JoinColumns(sides, keyCheck, deciding, generations);
    }

    /** Returns these columns with the generations of the dimensions. */
    public JoinColumns withGenerations(Generations read) {
        return new JoinColumns(sides, keyCheck, functions, read);
    }

    /** Returns the columns of a join with the Flink types that correspond to the column types. */
    public static JoinColumns of(JoinSpec spec) {
        return of(
                spec,
                fields(spec.factSchema()),
                spec.dimensions().stream().map(side -> fields(side.schema())).toList());
    }

    private static List<RecordField> fields(ChunkSchema schema) {
        return schema.columns().stream().map(RecordField::ofColumn).toList();
    }

    /** Returns the columns in the format of a snapshot. */
    byte[] toBytes() throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(1024);
        out.writeInt(VERSION);
        out.writeInt(sides.size());
        for (Side side : sides) {
            StringValue.writeString(side.name, out);
            StringValue.writeString(side.key, out);
            StringValue.writeString(side.kind, out);
            out.writeInt(side.fields.size());
            for (RecordField field : side.fields) {
                write(field, out);
            }
        }
        return out.getCopyOfBuffer();
    }

    private static void write(RecordField field, DataOutputSerializer out) throws IOException {
        StringValue.writeString(field.name(), out);
        StringValue.writeString(field.kind().name(), out);
        out.writeBoolean(field.nullable());
        StringValue.writeString(field.type().toString(), out);
        StringValue.writeString(RecordKind.of(field.type()).name(), out);
        List<Named> named = named(field.type());
        out.writeInt(named.size());
        for (Named each : named) {
            StringValue.writeString(each.name, out);
            StringValue.writeString(each.type, out);
        }
        byte[] snapshot = snapshot(field.serializer());
        out.writeInt(snapshot.length);
        out.write(snapshot);
    }

    private static byte[] snapshot(@Nullable TypeSerializer<?> serializer) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(256);
        if (serializer != null) {
            TypeSerializerSnapshot.writeVersionedSnapshot(out, serializer.snapshotConfiguration());
        }
        return out.getCopyOfBuffer();
    }

    /** The name of a field and its type as text. */
    record Named(String name, String type) {}

    /**
     * Returns what the serializer snapshot of a type lacks: the fields of Rows and RowData, which
     * serializers address by position; for other types, the Java types of the POJO fields in them,
     * by path such as {@code address.zip}.
     */
    static List<Named> named(TypeInformation<?> type) {
        if (!RecordShape.isNamedRow(type)) {
            List<Named> javaTypes = new ArrayList<>();
            addJavaTypes("", type, javaTypes);
            return javaTypes;
        }
        RecordShape<?> shape = RecordShape.of(type);
        return shape.names().stream().map(name -> new Named(name, shape.describe(name))).toList();
    }

    private static void addJavaTypes(String path, TypeInformation<?> type, List<Named> into) {
        if (!(type instanceof CompositeType<?> composite)
                || RecordKind.of(type) == RecordKind.AVRO) {
            return;
        }
        String[] names = composite.getFieldNames();
        for (int i = 0; i < names.length; i++) {
            if (type instanceof PojoTypeInfo<?> pojo) {
                into.add(
                        new Named(
                                path + names[i],
                                pojo.getPojoFieldAt(i).getField().getType().getName()));
            }
            addJavaTypes(path + names[i] + ".", composite.getTypeAt(i), into);
        }
    }

    /** Returns whether the name is that of a primitive Java type, which cannot hold null. */
    static boolean isPrimitive(String javaType) {
        return PRIMITIVES.contains(javaType);
    }
}
