// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.protobuf;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.WireFormat;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.formats.record.RowWriter;
import io.github.gpujoin.kafka.RecordDecoder;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;

/** Reads messages field by field. */
final class ProtobufDecoder implements RecordDecoder {

    /** In the order of their tags. */
    private final ProtobufField[] fields;

    private final int[] tags;

    /** Whether each field was in the message. */
    private final boolean[] seen;

    /** By tag of a member of a oneof: indexes of the fields that are its other members. */
    private final Map<Integer, int[]> others = new HashMap<>();

    ProtobufDecoder(Descriptor message, ChunkSchema schema) {
        this.fields = new ProtobufField[schema.size()];
        for (int i = 0; i < fields.length; i++) {
            FieldDescriptor field = message.findFieldByName(schema.column(i).name());
            if (field == null) {
                throw new IllegalArgumentException(
                        "Column is not in the message: column="
                                + schema.column(i).name()
                                + ", fields="
                                + message.getFields().stream()
                                        .map(FieldDescriptor::getName)
                                        .toList());
            }
            fields[i] = new ProtobufField(field, schema.column(i), i);
        }
        Arrays.sort(fields, (a, b) -> Integer.compare(a.tag(), b.tag()));
        this.tags = Arrays.stream(fields).mapToInt(ProtobufField::tag).toArray();
        this.seen = new boolean[fields.length];
        message.getRealOneofs().forEach(this::addMembers);
    }

    private void addMembers(OneofDescriptor oneof) {
        for (FieldDescriptor member : oneof.getFields()) {
            int[] cleared =
                    IntStream.range(0, fields.length)
                            .filter(i -> fields[i].isOtherMember(member))
                            .toArray();
            if (cleared.length > 0) {
                others.put(ProtobufField.tag(member), cleared);
            }
        }
    }

    @Override
    public void decode(byte[] value, RowWriter row) throws IOException {
        Arrays.fill(seen, false);
        int expected = 0;
        String name = "";
        try {
            CodedInputStream in = CodedInputStream.newInstance(value);
            for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
                // Writers order fields by number, so the next one is usually the next wanted.
                int index =
                        expected < tags.length && tags[expected] == tag
                                ? expected
                                : Arrays.binarySearch(tags, tag);
                if (index < 0) {
                    name = "number " + WireFormat.getTagFieldNumber(tag);
                    in.skipField(tag);
                } else {
                    name = fields[index].name();
                    fields[index].read(in, value, row);
                    seen[index] = true;
                    expected = index + 1;
                }
                if (!others.isEmpty()) {
                    clearOthers(tag);
                }
            }
        } catch (BadRecordException e) {
            throw e;
        } catch (IOException e) {
            throw new BadRecordException("field=" + name + ": " + e.getMessage(), e);
        }
        for (int i = 0; i < seen.length; i++) {
            if (!seen[i]) {
                fields[i].readAbsent(row);
            }
        }
    }

    /** If several members of a oneof are in a message, the last one is its value. */
    private void clearOthers(int tag) {
        int[] cleared = others.get(tag);
        if (cleared != null) {
            for (int index : cleared) {
                seen[index] = false;
            }
        }
    }
}
