// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ChunkSerializerSnapshotTest {

    private static final ChunkSchema KEYS = ChunkSerializerTest.KEYS;
    private static final ChunkSchema NAMES = ChunkSerializerTest.NAMES;

    static List<ChunkTypeInfo> types() {
        return List.of(
                ChunkTypeInfo.of(NAMES),
                ChunkTypeInfo.ofDimensions(List.of(NAMES)),
                ChunkTypeInfo.ofDimensions(List.of(KEYS, NAMES)));
    }

    @ParameterizedTest
    @MethodSource("types")
    void shouldRestoreTheSerializerThatWasSnapshotted(ChunkTypeInfo type) throws IOException {
        TypeSerializerSnapshot<Chunk> read = throughBytes(snapshot(type));

        assertThat(read.restoreSerializer()).isEqualTo(type.createSerializer(null));
        assertThat(snapshot(type).resolveSchemaCompatibility(read).isCompatibleAsIs()).isTrue();
    }

    @Test
    void shouldRefuseChunksWhoseColumnsChanged() throws IOException {
        ChunkSchema nullable = ChunkSchema.of(Column.nullable("key", ColumnType.INT64));
        for (ChunkTypeInfo other :
                List.of(
                        ChunkTypeInfo.of(NAMES),
                        ChunkTypeInfo.of(nullable),
                        ChunkTypeInfo.ofDimensions(List.of(KEYS)))) {
            ChunkSerializerSnapshot now = snapshot(ChunkTypeInfo.of(KEYS));
            TypeSerializerSnapshot<Chunk> old = throughBytes(snapshot(other));

            assertThat(now.resolveSchemaCompatibility(old).isIncompatible()).isTrue();
            assertThat(now.difference(old)).startsWith("the columns changed: written=");
        }
    }

    @Test
    void shouldRefuseChunksOfAnotherFormat() throws IOException {
        byte[] bytes = bytes(snapshot(ChunkTypeInfo.of(KEYS)));
        bytes[3]++;
        ChunkSerializerSnapshot old = new ChunkSerializerSnapshot();
        old.readSnapshot(1, new DataInputDeserializer(bytes), getClass().getClassLoader());

        assertThat(snapshot(ChunkTypeInfo.of(KEYS)).difference(old))
                .isEqualTo("the chunk format changed: written=2, now=1");
    }

    @Test
    void shouldRefuseASnapshotOfAnUnknownVersion() throws IOException {
        byte[] bytes = bytes(snapshot(ChunkTypeInfo.of(KEYS)));

        assertThatThrownBy(
                        () ->
                                new ChunkSerializerSnapshot()
                                        .readSnapshot(
                                                2,
                                                new DataInputDeserializer(bytes),
                                                getClass().getClassLoader()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("version=2, known=1");
    }

    @Test
    void shouldRefuseASnapshotThatNamesUnknownThings() throws IOException {
        String text = new String(bytes(snapshot(ChunkTypeInfo.of(KEYS))), "ISO-8859-1");
        byte[] bytes = text.replace("INT64", "INT65").getBytes("ISO-8859-1");

        assertThatThrownBy(
                        () ->
                                new ChunkSerializerSnapshot()
                                        .readSnapshot(
                                                1,
                                                new DataInputDeserializer(bytes),
                                                getClass().getClassLoader()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("ColumnType=INT65");
    }

    private static ChunkSerializerSnapshot snapshot(ChunkTypeInfo type) {
        return (ChunkSerializerSnapshot) type.createSerializer(null).snapshotConfiguration();
    }

    private static byte[] bytes(ChunkSerializerSnapshot snapshot) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        snapshot.writeSnapshot(out);
        return out.getCopyOfBuffer();
    }

    private TypeSerializerSnapshot<Chunk> throughBytes(ChunkSerializerSnapshot snapshot)
            throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        TypeSerializerSnapshot.writeVersionedSnapshot(out, snapshot);
        return TypeSerializerSnapshot.readVersionedSnapshot(
                new DataInputDeserializer(out.getCopyOfBuffer()), getClass().getClassLoader());
    }
}
