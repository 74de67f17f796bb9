// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.protobuf;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.formats.record.RowWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** A field that is read into a column. */
final class ProtobufField {

    private static final byte[] NONE = new byte[0];

    private final FieldDescriptor field;
    private final FieldDescriptor.Type type;
    private final int column;
    private final int tag;
    private final boolean isNullIfAbsent;

    /** Value of an absent field: bits of a number, or bytes. */
    private long defaultLong;

    private double defaultDouble;
    private byte[] defaultBytes = NONE;

    /** Names of an enum that is read as text. */
    private final Map<Integer, byte[]> names = new HashMap<>();

    /**
     * @throws IllegalArgumentException if the column cannot hold the field
     */
    ProtobufField(FieldDescriptor field, Column column, int index) {
        this.field = field;
        this.type = field.getType();
        this.column = index;
        if (field.isRepeated() || !fits(field.getJavaType(), column.type())) {
            throw new IllegalArgumentException(
                    "Column cannot hold the values of its field: column="
                            + column
                            + ", field="
                            + (field.isRepeated() ? "repeated " : "")
                            + type);
        }
        this.tag = tag(field);
        this.isNullIfAbsent = field.hasPresence() && column.nullable();
        if (type == FieldDescriptor.Type.ENUM && column.type() == ColumnType.STRING) {
            for (EnumValueDescriptor value : field.getEnumType().getValues()) {
                names.putIfAbsent(
                        value.getNumber(), value.getName().getBytes(StandardCharsets.UTF_8));
            }
        }
        setDefault(field.getDefaultValue());
    }

    private static boolean fits(FieldDescriptor.JavaType type, ColumnType column) {
        return switch (type) {
            case INT, LONG, BOOLEAN -> column.isInteger();
            case ENUM -> column.isInteger() || column == ColumnType.STRING;
            case FLOAT -> column == ColumnType.FLOAT32 || column == ColumnType.FLOAT64;
            case DOUBLE -> column == ColumnType.FLOAT64;
            case STRING -> column == ColumnType.STRING;
            case BYTE_STRING -> column == ColumnType.BYTES;
            case MESSAGE -> false;
        };
    }

    private void setDefault(Object value) {
        switch (field.getJavaType()) {
            case INT ->
                    defaultLong =
                            isUnsigned()
                                    ? Integer.toUnsignedLong((Integer) value)
                                    : (Integer) value;
            case LONG -> defaultLong = (Long) value;
            case BOOLEAN -> defaultLong = (Boolean) value ? 1 : 0;
            case ENUM -> defaultLong = ((EnumValueDescriptor) value).getNumber();
            case FLOAT, DOUBLE -> defaultDouble = ((Number) value).doubleValue();
            case STRING -> defaultBytes = ((String) value).getBytes(StandardCharsets.UTF_8);
            case BYTE_STRING -> defaultBytes = ((ByteString) value).toByteArray();
            case MESSAGE -> throw new IllegalStateException("Field is a message: field=" + field);
        }
    }

    private boolean isUnsigned() {
        return type == FieldDescriptor.Type.UINT32 || type == FieldDescriptor.Type.FIXED32;
    }

    /** Returns what precedes each value of a field: its number and wire type. */
    static int tag(FieldDescriptor field) {
        return field.getNumber() << 3 | field.getLiteType().getWireType();
    }

    int tag() {
        return tag;
    }

    /** Whether a member of a oneof clears this field, as another member of it. */
    boolean isOtherMember(FieldDescriptor member) {
        return field != member && field.getContainingOneof() == member.getContainingOneof();
    }

    String name() {
        return field.getName();
    }

    /** Reads the value behind the tag. */
    void read(CodedInputStream in, byte[] value, RowWriter row) throws IOException {
        switch (type) {
            case FLOAT -> row.putDouble(column, in.readFloat());
            case DOUBLE -> row.putDouble(column, in.readDouble());
            case STRING, BYTES -> {
                int length = in.readRawVarint32();
                int start = in.getTotalBytesRead();
                in.skipRawBytes(length);
                row.putBytes(column, value, start, length);
            }
            case ENUM -> putEnum(in.readEnum(), row);
            default -> row.putLong(column, readLong(in));
        }
    }

    private long readLong(CodedInputStream in) throws IOException {
        return switch (type) {
            case INT32 -> in.readInt32();
            case UINT32 -> Integer.toUnsignedLong(in.readUInt32());
            case SINT32 -> in.readSInt32();
            case FIXED32 -> Integer.toUnsignedLong(in.readFixed32());
            case SFIXED32 -> in.readSFixed32();
            case INT64 -> in.readInt64();
            case UINT64 -> in.readUInt64();
            case SINT64 -> in.readSInt64();
            case FIXED64 -> in.readFixed64();
            case SFIXED64 -> in.readSFixed64();
            case BOOL -> in.readBool() ? 1 : 0;
            default -> throw new IllegalStateException("Field is no integer: type=" + type);
        };
    }

    private void putEnum(int number, RowWriter row) throws BadRecordException {
        if (names.isEmpty()) {
            row.putLong(column, number);
            return;
        }
        byte[] name = names.get(number);
        if (name == null) {
            throw new BadRecordException(
                    "Enum has no such value: field=" + name() + ", number=" + number);
        }
        row.putBytes(column, name, 0, name.length);
    }

    /** Writes null or the default. */
    void readAbsent(RowWriter row) throws BadRecordException {
        if (isNullIfAbsent) {
            row.putNull(column);
            return;
        }
        if (field.isRequired()) {
            throw new BadRecordException("Required field is absent: field=" + name());
        }
        switch (field.getJavaType()) {
            case FLOAT, DOUBLE -> row.putDouble(column, defaultDouble);
            case STRING, BYTE_STRING -> row.putBytes(column, defaultBytes, 0, defaultBytes.length);
            case ENUM -> putEnum((int) defaultLong, row);
            default -> row.putLong(column, defaultLong);
        }
    }
}
