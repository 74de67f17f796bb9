package io.github.gpujoin.flink.chunk;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * Type of a stream of {@link Chunk}s: of one schema, or of the dimensions of a join, with or
 * without its facts, where the chunk's header says which dimension, and so which schema, it is of.
 */
public final class ChunkTypeInfo extends TypeInformation<Chunk> {

    private static final long serialVersionUID = 1L;

    private final ChunkSchemas schemas;

    private ChunkTypeInfo(ChunkSchemas schemas) {
        this.schemas = schemas;
    }

    /** Stream whose chunks all have this schema, whatever dimension their header names. */
    public static ChunkTypeInfo of(ChunkSchema schema) {
        return new ChunkTypeInfo(ChunkSchemas.single(schema));
    }

    /** Stream of all dimensions' chunks: dimension {@code d} has the {@code d}-th schema. */
    public static ChunkTypeInfo ofDimensions(List<ChunkSchema> schemas) {
        return new ChunkTypeInfo(ChunkSchemas.byDimension(schemas));
    }

    /** The same with chunks of facts among them. */
    public static ChunkTypeInfo ofFactsAndDimensions(
            ChunkSchema facts, List<ChunkSchema> dimensions) {
        return new ChunkTypeInfo(ChunkSchemas.factsAndDimensions(facts, dimensions));
    }

    /**
     * The schema of all chunks.
     *
     * @throws IllegalStateException where the schema depends on the dimension
     */
    public ChunkSchema schema() {
        return schemas.only();
    }

    @Override
    public TypeSerializer<Chunk> createSerializer(SerializerConfig config) {
        return new ChunkSerializer(schemas);
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
        return other instanceof ChunkTypeInfo that && schemas.equals(that.schemas);
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
