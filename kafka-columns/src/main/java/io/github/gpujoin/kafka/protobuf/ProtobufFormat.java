// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.protobuf;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.kafka.RecordDecoder;
import io.github.gpujoin.kafka.RecordFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.flink.annotation.PublicEvolving;
import org.jspecify.annotations.Nullable;

/**
 * Values that are Protocol Buffers messages of one type. Columns are fields of the message, by
 * name; other fields are skipped by their wire type.
 *
 * <p>Integers and bool are read by integer columns (a uint64 as its 64 bits), float and double by
 * FLOAT32 and FLOAT64, string by STRING, bytes by BYTES; an enum by an integer column as its
 * number, or by STRING as its name. Repeated fields and messages are refused. An absent field is
 * null if it has presence ({@code optional}, or a member of a {@code oneof}) and its column is
 * nullable; else it has its default value.
 */
@PublicEvolving
public final class ProtobufFormat implements RecordFormat {

    private static final long serialVersionUID = 1L;

    /** A FileDescriptorSet, since descriptors themselves are not serializable. */
    private final byte[] files;

    private final String message;

    private ProtobufFormat(byte[] files, String message) {
        this.files = files;
        this.message = message;
    }

    /**
     * Creates a format.
     *
     * @param message descriptor of the values' type, as generated classes have it
     * @return the format
     */
    public static ProtobufFormat of(Descriptor message) {
        Objects.requireNonNull(message, "message");
        Set<FileDescriptor> files = new LinkedHashSet<>();
        collect(message.getFile(), files);
        FileDescriptorSet.Builder set = FileDescriptorSet.newBuilder();
        files.forEach(file -> set.addFile(file.toProto()));
        return new ProtobufFormat(set.build().toByteArray(), message.getFullName());
    }

    /**
     * Creates a format.
     *
     * @param descriptorSet output of {@code protoc --descriptor_set_out --include_imports}
     * @param message full name of the values' type
     * @return the format
     * @throws IllegalArgumentException if there is no such message
     */
    public static ProtobufFormat of(byte[] descriptorSet, String message) {
        ProtobufFormat format =
                new ProtobufFormat(
                        descriptorSet.clone(), Objects.requireNonNull(message, "message"));
        format.descriptor();
        return format;
    }

    /** Adds a file behind those that it imports. */
    private static void collect(FileDescriptor file, Set<FileDescriptor> files) {
        file.getDependencies().forEach(imported -> collect(imported, files));
        files.add(file);
    }

    private Descriptor descriptor() {
        Map<String, FileDescriptor> known = new LinkedHashMap<>();
        try {
            for (FileDescriptorProto file : FileDescriptorSet.parseFrom(files).getFileList()) {
                FileDescriptor[] imports =
                        file.getDependencyList().stream()
                                .map(known::get)
                                .filter(Objects::nonNull)
                                .toArray(FileDescriptor[]::new);
                known.put(file.getName(), FileDescriptor.buildFrom(file, imports));
            }
        } catch (InvalidProtocolBufferException | DescriptorValidationException e) {
            throw new IllegalArgumentException(
                    "Descriptor set is invalid, or lacks imports: message=" + message, e);
        }
        for (FileDescriptor file : known.values()) {
            String prefix = file.getPackage().isEmpty() ? "" : file.getPackage() + ".";
            if (message.startsWith(prefix)) {
                Descriptor found = find(file, message.substring(prefix.length()));
                if (found != null) {
                    return found;
                }
            }
        }
        throw new IllegalArgumentException(
                "Message is not in the descriptor set: message="
                        + message
                        + ", files="
                        + known.keySet());
    }

    private static @Nullable Descriptor find(FileDescriptor file, String name) {
        String[] path = name.split("\\.");
        Descriptor found = file.findMessageTypeByName(path[0]);
        for (int i = 1; i < path.length && found != null; i++) {
            found = found.findNestedTypeByName(path[i]);
        }
        return found;
    }

    @Override
    public RecordDecoder open(ChunkSchema schema) {
        return new ProtobufDecoder(descriptor(), schema);
    }
}
