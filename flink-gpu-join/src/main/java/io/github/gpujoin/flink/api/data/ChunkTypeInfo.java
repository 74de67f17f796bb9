// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.data;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.record.ChunkSchemas;
import io.github.gpujoin.flink.record.ChunkSerializer;
import java.util.List;
import java.util.Objects;
import org.apache.flink.annotation.Internal;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * Flink type of a stream of {@link Chunk}s. A user's stream has one schema: {@link #of}. Streams
 * between operators of a join may contain chunks of several schemas, which the headers of the
 * chunks name. Immutable.
 */
@PublicEvolving
public final class ChunkTypeInfo extends TypeInformation<Chunk> {

    private static final long serialVersionUID = 1L;

    private final ChunkSchemas schemas;
    private final boolean encodes;

    private ChunkTypeInfo(ChunkSchemas schemas) {
        this(schemas, false);
    }

    private ChunkTypeInfo(ChunkSchemas schemas, boolean encodes) {
        this.schemas = schemas;
        this.encodes = encodes;
    }

    /**
     * Returns the type of a stream whose chunks all have the schema, whatever dimension their
     * headers name.
     *
     * @param schema schema of the chunks
     * @return the type
     */
    public static ChunkTypeInfo of(ChunkSchema schema) {
        return new ChunkTypeInfo(ChunkSchemas.single(Objects.requireNonNull(schema, "schema")));
    }

    /**
     * Returns the type of a stream of all dimensions' chunks.
     *
     * @param schemas of the dimensions, in their order
     * @return the type
     */
    @Internal
    public static ChunkTypeInfo ofDimensions(List<ChunkSchema> schemas) {
        return new ChunkTypeInfo(
                ChunkSchemas.byDimension(Objects.requireNonNull(schemas, "schemas")));
    }

    /**
     * Returns the type of a stream of chunks of the facts and of all dimensions.
     *
     * @param facts schema of the facts
     * @param dimensions their schemas, in their order
     * @return the type
     */
    @Internal
    public static ChunkTypeInfo ofFactsAndDimensions(
            ChunkSchema facts, List<ChunkSchema> dimensions) {
        return new ChunkTypeInfo(
                ChunkSchemas.factsAndDimensions(
                        Objects.requireNonNull(facts, "facts"),
                        Objects.requireNonNull(dimensions, "dimensions")));
    }

    /**
     * Returns the same type with another way to serialize chunks. Every reader reads both.
     *
     * @param encodes whether chunks are serialized with encoded columns where that shortens them
     * @return the type
     */
    @Internal
    public ChunkTypeInfo withEncoding(boolean encodes) {
        return new ChunkTypeInfo(schemas, encodes);
    }

    /**
     * Returns the schema of all chunks.
     *
     * @return the schema of the chunks
     * @throws IllegalStateException if the schema depends on the dimension
     */
    public ChunkSchema schema() {
        return schemas.only();
    }

    @Override
    public TypeSerializer<Chunk> createSerializer(SerializerConfig config) {
        return new ChunkSerializer(schemas, encodes);
    }

    @Override
    public boolean isBasicType() {
        return false;
    }

    @Override
    public boolean isTupleType() {
        return false;
    }

    @Override
    public int getArity() {
        return 1;
    }

    @Override
    public int getTotalFields() {
        return 1;
    }

    @Override
    public Class<Chunk> getTypeClass() {
        return Chunk.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public String toString() {
        return "Chunk" + schemas;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ChunkTypeInfo that
                && schemas.equals(that.schemas)
                && encodes == that.encodes;
    }

    @Override
    public int hashCode() {
        return schemas.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof ChunkTypeInfo;
    }
}
