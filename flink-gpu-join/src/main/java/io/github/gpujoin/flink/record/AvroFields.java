// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Conversion;
import org.apache.avro.Conversions;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.data.TimeConversions;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.formats.avro.typeutils.AvroSerializerSnapshot;
import org.apache.flink.util.StringUtils;
import org.jspecify.annotations.Nullable;

/**
 * Converts the fields of Avro records to types of Flink's DataStream API and back: text and enums
 * are Strings, bytes and fixed are arrays, logical types are classes of {@code java.time} and
 * decimals. Fields of generic records hold plain values, and those of specific records values of
 * logical types; both are supported.
 */
public final class AvroFields {

    private static final TypeInformation<byte[]> BYTES =
            PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO;

    private static final GenericData CONVERSIONS = new GenericData();

    static {
        CONVERSIONS.addLogicalTypeConversion(new Conversions.DecimalConversion());
        CONVERSIONS.addLogicalTypeConversion(new TimeConversions.DateConversion());
        CONVERSIONS.addLogicalTypeConversion(new TimeConversions.TimeMillisConversion());
        CONVERSIONS.addLogicalTypeConversion(new TimeConversions.TimeMicrosConversion());
        CONVERSIONS.addLogicalTypeConversion(new TimeConversions.TimestampMillisConversion());
        CONVERSIONS.addLogicalTypeConversion(new TimeConversions.TimestampMicrosConversion());
        CONVERSIONS.addLogicalTypeConversion(new TimeConversions.LocalTimestampMillisConversion());
        CONVERSIONS.addLogicalTypeConversion(new TimeConversions.LocalTimestampMicrosConversion());
    }

    private AvroFields() {}

    /**
     * Returns the schema of a Flink type of Avro records, generic or specific.
     *
     * @throws ClassCastException if the type's serializer is not Flink's Avro serializer
     */
    public static Schema schemaOf(TypeInformation<?> type) {
        // The type has no accessor for its schema, but its serializer snapshot contains it.
        AvroSerializerSnapshot<?> snapshot =
                (AvroSerializerSnapshot<?>)
                        type.createSerializer(new SerializerConfigImpl()).snapshotConfiguration();
        DataOutputSerializer written = new DataOutputSerializer(1024);
        try {
            snapshot.writeSnapshot(written);
            DataInputDeserializer in = new DataInputDeserializer(written.getCopyOfBuffer());
            StringUtils.readString(in); // class of the records
            return new Schema.Parser().parse(StringUtils.readString(in));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns a converter of generic records with another schema to the schema of a type, by Avro's
     * schema resolution: fields by name, promotions, and defaults. It returns other records as they
     * are, since specific records always have the schema of their class.
     */
    public static Converter resolver(TypeInformation<?> type) {
        Schema schema = schemaOf(type);
        return record ->
                record instanceof GenericData.Record generic && !generic.getSchema().equals(schema)
                        ? resolved(generic, schema)
                        : record;
    }

    private static Object resolved(GenericData.Record record, Schema schema) {
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(out, null);
            new GenericDatumWriter<>(record.getSchema()).write(record, encoder);
            BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(out.toByteArray(), null);
            return new GenericDatumReader<>(record.getSchema(), schema).read(null, decoder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns the Flink type of a field. A union with null has the type of its other branch.
     *
     * @throws IllegalArgumentException if the type is not supported, such as a record, an array or
     *     another union
     */
    public static TypeInformation<?> typeOf(Schema.Field field) {
        Schema schema = present(field);
        Conversion<?> conversion = conversion(schema);
        if (conversion != null) {
            return TypeInformation.of(conversion.getConvertedType());
        }
        return switch (schema.getType()) {
            case BOOLEAN -> Types.BOOLEAN;
            case INT -> Types.INT;
            case LONG -> Types.LONG;
            case FLOAT -> Types.FLOAT;
            case DOUBLE -> Types.DOUBLE;
            case STRING, ENUM -> Types.STRING;
            case BYTES, FIXED -> BYTES;
            default -> throw refused(field);
        };
    }

    /** Returns the schema of a field's values without null. */
    private static Schema present(Schema.Field field) {
        if (!field.schema().isUnion()) {
            return field.schema();
        }
        List<Schema> values = new ArrayList<>(field.schema().getTypes());
        values.removeIf(schema -> schema.getType() == Schema.Type.NULL);
        if (values.size() != 1) {
            throw refused(field);
        }
        return values.get(0);
    }

    private static IllegalArgumentException refused(Schema.Field field) {
        return new IllegalArgumentException(
                "Unsupported type of an Avro field: field=%s, schema=%s.\nUse a number, boolean, string, enum, bytes, fixed, a logical type of these, or its union with null."
                        .formatted(field.name(), field.schema()));
    }

    private static @Nullable Conversion<?> conversion(Schema schema) {
        LogicalType logical = schema.getLogicalType();
        return logical == null ? null : CONVERSIONS.getConversionFor(logical);
    }

    /** Converts a value. */
    @FunctionalInterface
    public interface Converter {
        /**
         * Returns the converted value.
         *
         * @param value never null; callers handle null
         */
        Object convert(Object value);
    }

    /** Returns a converter of the field's values in records to {@link #typeOf}. */
    public static Converter reader(Schema.Field field) {
        Schema schema = present(field);
        Conversion<?> conversion = conversion(schema);
        if (conversion != null) {
            return value ->
                    conversion.getConvertedType().isInstance(value)
                            ? value
                            : Conversions.convertToLogicalType(
                                    value, schema, schema.getLogicalType(), conversion);
        }
        return switch (schema.getType()) {
            case STRING, ENUM -> Object::toString;
            case BYTES -> value -> bytes((ByteBuffer) value);
            case FIXED -> value -> ((GenericFixed) value).bytes();
            default -> value -> value;
        };
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    /**
     * Returns a converter of {@link #typeOf} to the field's values in generic records. It throws
     * {@link IllegalArgumentException} if bytes do not have the length of a fixed field.
     */
    public static Converter writer(Schema.Field field) {
        return writer(present(field), GenericData.get());
    }

    /**
     * Returns a converter of {@link #typeOf} to the field's values in specific records. It throws
     * like that of {@link #writer(Schema.Field)}.
     *
     * @param record any record of the class
     */
    public static Converter writer(Schema.Field field, SpecificRecordBase record) {
        Schema schema = present(field);
        Conversion<?> own = conversion(schema);
        Conversion<?> held = held(field, schema, record);
        if (own != null && held != null && own.getConvertedType() == held.getConvertedType()) {
            return value -> value;
        }
        Converter raw = writer(schema, record.getSpecificData());
        return held == null
                ? raw
                : value ->
                        Conversions.convertToLogicalType(
                                raw.convert(value), schema, schema.getLogicalType(), held);
    }

    /**
     * Returns Avro's conversion for a field of a specific record; null for plain values. For a
     * union only the model of the class has it, otherwise the record.
     */
    private static Conversion<?> held(
            Schema.Field field, Schema present, SpecificRecordBase record) {
        return field.schema().isUnion()
                ? record.getSpecificData().getConversionFor(present.getLogicalType())
                : record.getConversion(field.pos());
    }

    private static Converter writer(Schema schema, GenericData model) {
        Conversion<?> conversion = conversion(schema);
        boolean isFixed = schema.getType() == Schema.Type.FIXED;
        if (conversion != null) {
            return value -> {
                Object raw =
                        Conversions.convertToRawType(
                                value, schema, schema.getLogicalType(), conversion);
                return isFixed ? fixed(((GenericFixed) raw).bytes(), schema, model) : raw;
            };
        }
        return switch (schema.getType()) {
            case ENUM -> value -> model.createEnum((String) value, schema);
            case BYTES -> value -> ByteBuffer.wrap((byte[]) value);
            case FIXED -> value -> fixed((byte[]) value, schema, model);
            default -> value -> value;
        };
    }

    private static Object fixed(byte[] bytes, Schema schema, GenericData model) {
        if (bytes.length != schema.getFixedSize()) {
            throw new IllegalArgumentException(
                    "Value of a wrong length for an Avro fixed field: lengthBytes=%d, expectedBytes=%d, type=%s.\nConvert the value, or change the size in the schema."
                            .formatted(bytes.length, schema.getFixedSize(), schema.getFullName()));
        }
        return model.createFixed(null, bytes, schema);
    }

    /**
     * Returns the resolution of a field's times; {@link TimeResolution#NANOSECONDS} if the field
     * holds none.
     */
    public static TimeResolution resolution(Schema.Field field) {
        LogicalType type = present(field).getLogicalType();
        if (type instanceof LogicalTypes.TimeMillis
                || type instanceof LogicalTypes.TimestampMillis
                || type instanceof LogicalTypes.LocalTimestampMillis) {
            return TimeResolution.MILLISECONDS;
        }
        boolean inMicroseconds =
                type instanceof LogicalTypes.TimeMicros
                        || type instanceof LogicalTypes.TimestampMicros
                        || type instanceof LogicalTypes.LocalTimestampMicros;
        return inMicroseconds ? TimeResolution.MICROSECONDS : TimeResolution.NANOSECONDS;
    }
}
