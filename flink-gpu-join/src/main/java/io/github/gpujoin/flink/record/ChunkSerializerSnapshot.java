// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The schemas and the chunk format under which chunks were written. Chunks in state are read under
 * the same schemas and format only.
 *
 * <p>Version 1: int format version, UTF form, int schemas; of each schema int columns; of each
 * column UTF name, UTF type, boolean nullable.
 */
public final class ChunkSerializerSnapshot implements TypeSerializerSnapshot<Chunk> {

    private static final Logger LOG = LoggerFactory.getLogger(ChunkSerializerSnapshot.class);
    private static final int VERSION = 1;
    private static final int MAX_COUNT = 1 << 16;

    private int formatVersion;
    private ChunkSchemas schemas;

    /** For Flink, which then calls {@link #readSnapshot}. */
    public ChunkSerializerSnapshot() {}

    ChunkSerializerSnapshot(ChunkSchemas schemas) {
        this.formatVersion = ChunkDescriptor.VERSION;
        this.schemas = schemas;
    }

    @Override
    public int getCurrentVersion() {
        return VERSION;
    }

    @Override
    public void writeSnapshot(DataOutputView out) throws IOException {
        out.writeInt(formatVersion);
        out.writeUTF(schemas.form().name());
        out.writeInt(schemas.schemas().size());
        for (ChunkSchema schema : schemas.schemas()) {
            out.writeInt(schema.size());
            for (Column column : schema.columns()) {
                out.writeUTF(column.name());
                out.writeUTF(column.type().name());
                out.writeBoolean(column.nullable());
            }
        }
    }

    @Override
    public void readSnapshot(int readVersion, DataInputView in, ClassLoader classLoader)
            throws IOException {
        if (readVersion != VERSION) {
            throw new IOException(
                    "Unknown version of a chunk serializer snapshot: version=%d, known=%d.\nRestore it with the release that wrote it, or a later one."
                            .formatted(readVersion, VERSION));
        }
        formatVersion = in.readInt();
        ChunkSchemas.Form form = readEnum(ChunkSchemas.Form.class, in.readUTF());
        int count = checkCount("schemas", in.readInt());
        List<ChunkSchema> read = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            read.add(readSchema(in));
        }
        schemas = new ChunkSchemas(form, read);
    }

    private static ChunkSchema readSchema(DataInputView in) throws IOException {
        int count = checkCount("columns", in.readInt());
        List<Column> columns = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String name = in.readUTF();
            ColumnType type = readEnum(ColumnType.class, in.readUTF());
            columns.add(new Column(name, type, in.readBoolean()));
        }
        return ChunkSchema.of(columns);
    }

    private static <E extends Enum<E>> E readEnum(Class<E> type, String name) throws IOException {
        try {
            return Enum.valueOf(type, name);
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    "Unknown name in a chunk serializer snapshot: %s=%s.\nRestore it with the release that wrote it, or a later one."
                            .formatted(type.getSimpleName(), name),
                    e);
        }
    }

    private static int checkCount(String what, int count) throws IOException {
        if (count < 0 || count > MAX_COUNT) {
            throw new IOException(
                    "The snapshot of a chunk serializer is damaged: %s=%d, maximum=%d.\nRestore an earlier snapshot."
                            .formatted(what, count, MAX_COUNT));
        }
        return count;
    }

    @Override
    public TypeSerializer<Chunk> restoreSerializer() {
        return new ChunkSerializer(schemas);
    }

    @Override
    public TypeSerializerSchemaCompatibility<Chunk> resolveSchemaCompatibility(
            TypeSerializerSnapshot<Chunk> oldSnapshot) {
        String difference = difference(oldSnapshot);
        if (difference == null) {
            return TypeSerializerSchemaCompatibility.compatibleAsIs();
        }
        // Flink's own exception does not carry a reason.
        LOG.error("Chunks in state cannot be read by this job: {}", difference);
        return TypeSerializerSchemaCompatibility.incompatible();
    }

    /** Why chunks of the old snapshot cannot be read under this one; null where they can. */
    @Nullable String difference(TypeSerializerSnapshot<Chunk> oldSnapshot) {
        if (!(oldSnapshot instanceof ChunkSerializerSnapshot old)) {
            return "another serializer wrote them: snapshot=" + oldSnapshot.getClass().getName();
        }
        if (old.formatVersion != formatVersion) {
            return "the chunk format changed: written="
                    + old.formatVersion
                    + ", now="
                    + formatVersion;
        }
        if (!old.schemas.equals(schemas)) {
            return "the columns changed: written=" + old.schemas + ", now=" + schemas;
        }
        return null;
    }
}
