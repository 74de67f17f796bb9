// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.protobuf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.kafka.DecodedRows;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProtobufFormatTest {

    /** One field of each type; {@code TYPE_INT32} is called {@code f_int32}. */
    private static final Descriptor MESSAGE = message();

    private static Descriptor message() {
        DescriptorProto.Builder message = DescriptorProto.newBuilder().setName("Row");
        int number = 1;
        for (Type type : Type.values()) {
            if (type == Type.TYPE_GROUP) {
                continue;
            }
            FieldDescriptorProto.Builder field =
                    FieldDescriptorProto.newBuilder()
                            .setName("f_" + type.name().substring(5).toLowerCase())
                            .setNumber(number++)
                            .setLabel(Label.LABEL_OPTIONAL)
                            .setType(type);
            if (type == Type.TYPE_ENUM) {
                field.setTypeName("test.Color");
            } else if (type == Type.TYPE_MESSAGE) {
                field.setTypeName("test.Row");
            }
            message.addField(field);
        }
        message.addField(
                FieldDescriptorProto.newBuilder()
                        .setName("many")
                        .setNumber(1000)
                        .setLabel(Label.LABEL_REPEATED)
                        .setType(Type.TYPE_INT32));
        EnumDescriptorProto.Builder color = EnumDescriptorProto.newBuilder().setName("Color");
        color.addValueBuilder().setName("RED").setNumber(0);
        color.addValueBuilder().setName("BLUE").setNumber(300);
        try {
            return FileDescriptor.buildFrom(
                            FileDescriptorProto.newBuilder()
                                    .setName("test.proto")
                                    .setPackage("test")
                                    .setSyntax("proto3")
                                    .addMessageType(message)
                                    .addEnumType(color)
                                    .build(),
                            new FileDescriptor[0])
                    .findMessageTypeByName("Row");
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object random(FieldDescriptor field, Random random) {
        return switch (field.getJavaType()) {
            case INT -> random.nextInt() >> random.nextInt(32);
            case LONG -> random.nextLong() >> random.nextInt(64);
            case FLOAT -> random.nextFloat();
            case DOUBLE -> random.nextGaussian();
            case BOOLEAN -> random.nextBoolean();
            case STRING -> "t\u00e4xt ".repeat(random.nextInt(50));
            case BYTE_STRING -> ByteString.copyFromUtf8("b".repeat(random.nextInt(300)));
            case ENUM -> field.getEnumType().getValues().get(random.nextInt(2));
            case MESSAGE -> DynamicMessage.newBuilder(MESSAGE).build();
        };
    }

    private static Column column(FieldDescriptor field) {
        ColumnType type =
                switch (field.getJavaType()) {
                    case INT, LONG, BOOLEAN -> ColumnType.INT64;
                    case FLOAT -> ColumnType.FLOAT32;
                    case DOUBLE -> ColumnType.FLOAT64;
                    case STRING, ENUM -> ColumnType.STRING;
                    case BYTE_STRING, MESSAGE -> ColumnType.BYTES;
                };
        return Column.of(field.getName(), type);
    }

    private static Object expected(FieldDescriptor field, Object value) {
        return switch (field.getJavaType()) {
            case INT ->
                    field.getType() == FieldDescriptor.Type.UINT32
                                    || field.getType() == FieldDescriptor.Type.FIXED32
                            ? Integer.toUnsignedLong((Integer) value)
                            : (long) (Integer) value;
            case FLOAT -> (double) (Float) value;
            case BOOLEAN -> (Boolean) value ? 1L : 0L;
            case BYTE_STRING -> ByteBuffer.wrap(((ByteString) value).toByteArray());
            case ENUM -> value.toString();
            default -> value;
        };
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldReadWhatProtobufWrites(long seed) throws IOException {
        Random random = new Random(seed);
        List<FieldDescriptor> wanted = new ArrayList<>(MESSAGE.getFields());
        wanted.removeIf(
                f ->
                        f.isRepeated()
                                || f.getJavaType() == FieldDescriptor.JavaType.MESSAGE
                                || random.nextInt(4) == 0);
        Collections.shuffle(wanted, random);
        ChunkSchema columns =
                ChunkSchema.of(wanted.stream().map(ProtobufFormatTest::column).toList());
        FieldDescriptor many = MESSAGE.findFieldByName("many");
        List<byte[]> values = new ArrayList<>();
        List<List<Object>> expected = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            DynamicMessage.Builder message = DynamicMessage.newBuilder(MESSAGE);
            for (FieldDescriptor field : MESSAGE.getFields()) {
                if (field.isRepeated()) {
                    message.addRepeatedField(many, 1).addRepeatedField(many, 2);
                } else if (random.nextInt(3) > 0) {
                    message.setField(field, random(field, random));
                }
            }
            DynamicMessage built = message.build();
            values.add(built.toByteArray());
            expected.add(
                    wanted.stream().map(field -> expected(field, built.getField(field))).toList());
        }
        assertThat(DecodedRows.of(ProtobufFormat.of(MESSAGE), columns, values)).isEqualTo(expected);
    }

    @Test
    void shouldReadEnumsAsNumbers() throws IOException {
        FieldDescriptor color = MESSAGE.findFieldByName("f_enum");
        byte[] value =
                DynamicMessage.newBuilder(MESSAGE)
                        .setField(color, color.getEnumType().findValueByNumber(300))
                        .build()
                        .toByteArray();
        ChunkSchema columns = ChunkSchema.of(Column.of("f_enum", ColumnType.INT32));
        assertThat(DecodedRows.of(ProtobufFormat.of(MESSAGE), columns, List.of(value)))
                .isEqualTo(List.of(List.of(300L)));
    }

    /**
     * A writer that appends to a message may write several members; Protocol Buffers keep the last.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadTheLastMemberOfAOneof(long seed) throws Exception {
        DescriptorProto.Builder type = DescriptorProto.newBuilder().setName("Choice");
        type.addOneofDeclBuilder().setName("choice");
        for (String name : List.of("a", "b", "c", "free")) {
            FieldDescriptorProto.Builder field = type.addFieldBuilder();
            field.setName(name).setNumber(type.getFieldCount()).setLabel(Label.LABEL_OPTIONAL);
            field.setType(name.equals("b") ? Type.TYPE_STRING : Type.TYPE_INT32);
            if (!name.equals("free")) {
                field.setOneofIndex(0);
            }
        }
        FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder().setName("c.proto");
        Descriptor choice =
                FileDescriptor.buildFrom(file.addMessageType(type).build(), new FileDescriptor[0])
                        .findMessageTypeByName("Choice");
        ChunkSchema columns =
                ChunkSchema.of(
                        Column.nullable("b", ColumnType.STRING),
                        Column.nullable("free", ColumnType.INT32),
                        Column.nullable("a", ColumnType.INT32));
        Random random = new Random(seed);
        List<byte[]> values = new ArrayList<>();
        List<List<Object>> expected = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ByteString wire = ByteString.EMPTY;
            for (int count = random.nextInt(5); count > 0; count--) {
                FieldDescriptor field = choice.getFields().get(random.nextInt(4));
                Object value = field.getName().equals("b") ? "text" + i : (Object) i;
                DynamicMessage.Builder one = DynamicMessage.newBuilder(choice);
                wire = wire.concat(one.setField(field, value).build().toByteString());
            }
            DynamicMessage message = DynamicMessage.parseFrom(choice, wire);
            List<Object> row = new ArrayList<>();
            for (Column column : columns.columns()) {
                FieldDescriptor field = choice.findFieldByName(column.name());
                row.add(message.hasField(field) ? expected(field, message.getField(field)) : null);
            }
            values.add(wire.toByteArray());
            expected.add(row);
        }
        assertThat(DecodedRows.of(ProtobufFormat.of(choice), columns, values)).isEqualTo(expected);
    }

    @Test
    void shouldRefuseRepeatedFieldsAndMessages() {
        for (String name : List.of("many", "f_message")) {
            ChunkSchema columns = ChunkSchema.of(Column.of(name, ColumnType.INT32));
            assertThatThrownBy(() -> ProtobufFormat.of(MESSAGE).open(columns))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Column cannot hold the values of its field")
                    .hasMessageContaining("name=" + name);
        }
        assertThatThrownBy(() -> ProtobufFormat.of(new byte[0], "test.Row"))
                .hasMessage("Message is not in the descriptor set: message=test.Row, files=[]");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadOrRefuseAnyBytes(long seed) throws IOException {
        Random random = new Random(seed);
        ChunkSchema columns =
                ChunkSchema.of(
                        Column.of("f_string", ColumnType.STRING),
                        Column.of("f_bytes", ColumnType.BYTES));
        for (int i = 0; i < 3000; i++) {
            DynamicMessage.Builder message = DynamicMessage.newBuilder(MESSAGE);
            for (FieldDescriptor field : MESSAGE.getFields()) {
                if (!field.isRepeated()) {
                    message.setField(field, random(field, random));
                }
            }
            byte[] value = message.build().toByteArray();
            value[random.nextInt(value.length)] = (byte) random.nextInt();
            byte[] damaged = Arrays.copyOf(value, random.nextInt(value.length + 1));
            try {
                assertThat(DecodedRows.of(ProtobufFormat.of(MESSAGE), columns, List.of(damaged)))
                        .hasSize(1);
            } catch (BadRecordException e) {
                assertThat(e).hasMessageContaining("field=");
            }
        }
    }
}
